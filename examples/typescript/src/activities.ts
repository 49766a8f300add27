/** The model call. This one only counts; yours sends the messages to a model and returns what came back. */
import { randomUUID } from 'node:crypto';

import type { Message, MessageInput } from './contract';

export async function answer(messages: Message[]): Promise<MessageInput[]> {
  const call = `call_${randomUUID()}`;
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: call, type: 'function', function: { name: 'track_parcel', arguments: '{"order":"A-17"}' } }],
    },
    { role: 'tool', tool_call_id: call, content: 'In Lyon since Monday.' },
    { role: 'assistant', content: `I read ${messages.length} messages: your parcel is in Lyon.` },
  ];
}
