/** The worker of the agents. The memory is served by another one: `durable-memory worker`. */
import { NativeConnection, Worker } from '@temporalio/worker';

import * as activities from './activities';

async function main(): Promise<void> {
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? 'localhost:7233' });
  try {
    const worker = await Worker.create({
      connection,
      taskQueue: 'typescript-agents',
      workflowsPath: require.resolve('./workflows'),
      activities,
    });
    await worker.run();
  } finally {
    await connection.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
