/** The memory as workflows call it: our activities, by name, on the queue of the project's worker. */
import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';

import type { MemoryActivities } from './contract';

/** Attempts of one call are applied once, so Temporal may repeat it until the memory answers. */
export const memory = proxyActivities<MemoryActivities>({
  taskQueue: 'durable-memory',
  startToCloseTimeout: '5 s',
  scheduleToCloseTimeout: '10 min',
  retry: { initialInterval: '200 ms', maximumInterval: '10 s' },
});

/** Which error a failed call met: a FinalErrorType, for calls with the timeouts above. */
export function errorType(error: unknown): string | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
}
