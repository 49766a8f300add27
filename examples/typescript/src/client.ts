/** Runs a support case and prints what the memory shows afterwards: client.js USER CASE QUESTION */
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';

import type { Message } from './contract';
import type { supportCase } from './workflows';

async function main(): Promise<void> {
  const [user = '42', id = 'case-1', question = 'Where is my parcel?'] = process.argv.slice(2);
  const connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS ?? 'localhost:7233' });
  try {
    const result = await new Client({ connection }).workflow.execute<typeof supportCase>('supportCase', {
      workflowId: id,
      taskQueue: 'typescript-agents',
      args: [user, question],
    });
    for (const message of result.view.messages) console.log(`${message.role}: ${said(message)}`);
    console.log(`=> ${result.answer}${result.knownBefore ? ' (recorded by an earlier run)' : ''}`);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const cause = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
    console.error(`failed: ${cause instanceof ApplicationFailure ? `${cause.type}: ` : ''}${cause?.message}`);
    process.exitCode = 1;
  } finally {
    await connection.close();
  }
}

function said(message: Message): string {
  const calls = (message.tool_calls ?? []).map((call) => `${call.function.name}(${call.function.arguments})`);
  const text = typeof message.content === 'string' ? [message.content] : (message.content ?? []).map((part) => part.type);
  return [...text, ...calls].join(' ');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
