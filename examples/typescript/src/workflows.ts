/** A support case: the customer's question and the model's turn go into the memory that all agents of the desk share. */
import { proxyActivities, workflowInfo } from '@temporalio/workflow';

import type * as activities from './activities';
import type { MemoryField, View } from './contract';
import { errorType, memory } from './memory';

const model = proxyActivities<typeof activities>({ startToCloseTimeout: '1 min' });

export interface CaseResult {
  /** What the customer is told. */
  answer: string;
  /** Whether an earlier run of this case had recorded the answer. */
  knownBefore: boolean;
  /** What the next agent will see. */
  view: View;
}

export async function supportCase(user: string, question: string): Promise<CaseResult> {
  const thread: MemoryField = { resource: 'customer-support', agent: 'triage', input: { user_id: user } };
  // The same ids in every run of this case: run again, or retried as a whole, it asks and answers once.
  const { workflowId } = workflowInfo();

  try {
    await memory['memory.append']({
      memory: thread,
      messages: [{ role: 'user', content: question }],
      operation_id: `${workflowId}/question`,
    });
  } catch (error) {
    if (errorType(error) !== 'MemoryOversize') throw error;
    const view = await memory['memory.read']({ memory: thread });
    return { answer: 'That is more than I can remember. Can you say it shorter?', knownBefore: false, view };
  }

  const asked = await memory['memory.read']({ memory: thread, max_tokens: 3000 });
  const turn = await memory['memory.record_turn']({
    memory: thread,
    messages: await model.answer(asked.messages),
    operation_id: `${workflowId}/answer`,
  });
  // A model says something else each time; what was recorded first is what counts.
  const answer = turn.messages.at(-1)?.content;
  return {
    answer: typeof answer === 'string' ? answer : '',
    knownBefore: turn.result.already_applied,
    view: await memory['memory.read']({ memory: thread }),
  };
}
