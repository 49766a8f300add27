/** The wire contract of Durable Memory, version 1: the same as docs/wire.schema.json, which a test compares. */

/** Started by these names on the project's task queue, with one request each. */
export interface MemoryActivities {
  'memory.append': (request: AppendRequest) => Promise<AppendResult>;
  'memory.record_turn': (request: RecordTurnRequest) => Promise<Turn>;
  'memory.recorded_turn': (request: RecordedTurnRequest) => Promise<RecordedTurnAnswer>;
  'memory.read': (request: ReadRequest) => Promise<View>;
  'memory.write': (request: WriteRequest) => Promise<AppendResult>;
  'memory.touch': (request: TouchRequest) => Promise<TouchAnswer>;
  'memory.pin': (request: PinRequest) => Promise<TouchAnswer>;
  'memory.unpin': (request: PinRequest) => Promise<TouchAnswer>;
  'memory.delete': (request: DeleteRequest) => Promise<DeleteResult>;
  'memory.clear': (request: ClearRequest) => Promise<ClearResult>;
  'memory.restore': (request: RestoreRequest) => Promise<AppendResult>;
  'memory.flush': (request: FlushRequest) => Promise<FlushResult>;
  'memory.stats': (request: StatsRequest) => Promise<MemoryStats>;
  'memory.health': (request: HealthRequest) => Promise<MemoryHealth>;
  'memory.context': (request: ContextRequest) => Promise<AgentContext>;
  'memory.record_agent_turn': (request: RecordAgentTurnRequest) => Promise<AgentTurn>;
  'memory.recorded_agent_turn': (request: RecordedAgentTurnRequest) => Promise<RecordedAgentTurnAnswer>;
  'memory.execute': (request: ExecuteRequest) => Promise<Record<string, unknown>>;
}

export interface AgentContext {
  messages: Message[];
  tokens: number;
  memories: ContextMemory[];
}

export interface AgentTurn {
  messages: Message[];
  turns: MemoryTurn[];
}

export interface AppendRequest {
  memory: MemoryField;
  messages: MessageInput[];
  operation_id?: string | null;
  want_view?: boolean;
  contract?: number;
}

export interface AppendResult {
  ids: string[];
  version: string;
  tokens: number;
  messages: number;
  evicted: number;
  late: number;
  flush_due: boolean;
  already_applied: boolean;
  removed: number;
  created: boolean;
  view: View | null;
  dropped: number;
}

export interface Backup {
  id: string;
  messages: number;
  created_at: string;
  ends_at: string;
}

export interface ClearRequest {
  memory: MemoryField;
  confirm?: boolean;
  operation_id?: string | null;
  backup?: boolean;
  contract?: number;
}

export interface ClearResult {
  cleared: number;
  backup_id: string | null;
  already_applied: boolean;
}

export interface ContentPart {
  type: string;
  [field: string]: unknown;
}

export interface ContextMemory {
  resource: string;
  label: string;
  version: string;
  tokens: number;
  messages: number;
  omitted: Omitted;
}

export interface ContextRequest {
  agent: string;
  input?: Record<string, unknown> | null;
  max_tokens?: number | null;
  workflow_id?: string | null;
  workflow_type?: string | null;
  authors?: boolean | null;
  contract?: number;
}

export interface DeleteRequest {
  memory: MemoryField;
  ids: string[];
  operation_id?: string | null;
  contract?: number;
}

export interface DeleteResult {
  removed: string[];
  not_found: string[];
  covered: Record<string, string>;
  already_applied: boolean;
}

export interface ExecuteRequest {
  operation: string;
  resource?: string | null;
  key?: string | null;
  input?: Record<string, unknown> | null;
  agent?: string | null;
  payload?: Record<string, unknown> | null;
  operation_id?: string | null;
  workflow_id?: string | null;
  workflow_type?: string | null;
  run_id?: string | null;
  contract?: number;
}

export type FinalErrorType =
  | 'MemoryAccessDenied'
  | 'MemoryBudgetSpent'
  | 'MemoryConflict'
  | 'MemoryDamaged'
  | 'MemoryInvalid'
  | 'MemoryKeyInvalid'
  | 'MemoryModelRefused'
  | 'MemoryOperationConflict'
  | 'MemoryOperationExpired'
  | 'MemoryOrphanResult'
  | 'MemoryOversize'
  | 'MemoryUndecryptable'
  | 'MemoryUnknownResource';

export interface FlushRequest {
  memory: MemoryField;
  force?: boolean;
  dry_run?: boolean;
  max_messages?: number | null;
  threshold?: number | null;
  wait?: boolean;
  operation_id?: string | null;
  contract?: number;
}

export interface FlushResult {
  outcome: 'committed' | 'dropped' | 'nothing' | 'gone' | 'stale' | 'busy' | 'planned' | 'signalled';
  reason: 'below_threshold' | 'pinned' | 'keep' | 'max_messages' | null;
  removed_ids: string[];
  summary_id: string | null;
  tokens_before: number;
  tokens_after: number;
  messages_before: number;
  messages_after: number;
  flush_due: boolean;
  retry_after_ms: number;
  already_applied: boolean;
}

export interface HealthRequest {
  memory: MemoryField;
  check_connectivity?: boolean;
  contract?: number;
}

export interface MemoryField {
  resource: string;
  key?: string | null;
  input?: Record<string, unknown> | null;
  agent?: string | null;
  workflow_id?: string | null;
  workflow_type?: string | null;
  run_id?: string | null;
}

export interface MemoryHealth {
  healthy: boolean;
  problems: string[];
  stats: MemoryStats | null;
  answer_us: number | null;
  warnings: string[];
}

export interface MemoryStats {
  exists: boolean;
  version: string;
  tokens: Record<string, number>;
  messages: Record<string, number>;
  omitted: Omitted;
  max_tokens: number | null;
  max_messages: number | null;
  flush_due: boolean;
  flush_blocked: 'below_threshold' | 'pinned' | 'keep' | 'max_messages' | null;
  flushing_owner: string | null;
  last_flush_at: string | null;
  last_flush_outcome: string | null;
  created_at: string | null;
  updated_at: string | null;
  expires_at: string | null;
  due_since: string | null;
  groups: StatsGroup[];
  groups_complete: boolean;
  shares: Record<string, number>;
  backups: Backup[];
}

export interface MemoryTurn {
  resource: string;
  result: AppendResult;
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | ContentPart[] | null;
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  pinned?: boolean;
  agent?: string;
  metadata?: Record<string, unknown>;
  id?: string;
  section?: string;
  tokens?: number;
  tokens_estimated?: boolean;
  truncated_from?: number;
  created_at?: string;
  provenance?: Provenance;
  priority?: 'low' | 'normal' | 'high' | 'critical';
}

export interface MessageInput {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: string | ContentPart[] | null;
  name?: string | null;
  tool_calls?: ToolCallInput[];
  tool_call_id?: string | null;
  pinned?: boolean;
  agent?: string | null;
  metadata?: Record<string, unknown>;
  id?: unknown;
  section?: string | null;
  tokens?: unknown;
  tokens_estimated?: unknown;
  truncated_from?: unknown;
  created_at?: unknown;
  provenance?: unknown;
  priority?: 'low' | 'normal' | 'high' | 'critical';
}

export interface Omitted {
  messages: number;
  tokens: number;
}

export interface PinRequest {
  memory: MemoryField;
  ids: string[];
  operation_id?: string | null;
  contract?: number;
}

export interface Provenance {
  workflow_id?: string;
  run_id?: string;
  activity_id?: string;
}

export interface ReadRequest {
  memory: MemoryField;
  limit?: number | null;
  max_tokens?: number | null;
  sections?: string[] | null;
  ids?: string[] | null;
  before_id?: string | null;
  since_version?: string | null;
  authors?: boolean | null;
  contract?: number;
}

export interface RecordAgentTurnRequest {
  agent: string;
  messages: MessageInput[];
  input?: Record<string, unknown> | null;
  operation_id?: string | null;
  workflow_id?: string | null;
  workflow_type?: string | null;
  run_id?: string | null;
  contract?: number;
}

export interface RecordedAgentTurnAnswer {
  turn: AgentTurn | null;
}

export interface RecordedAgentTurnRequest {
  agent: string;
  operation_id: string;
  input?: Record<string, unknown> | null;
  workflow_id?: string | null;
  workflow_type?: string | null;
  contract?: number;
}

export interface RecordedTurnAnswer {
  turn: Turn | null;
}

export interface RecordedTurnRequest {
  memory: MemoryField;
  operation_id: string;
  contract?: number;
}

export interface RecordTurnRequest {
  memory: MemoryField;
  messages: MessageInput[];
  operation_id?: string | null;
  contract?: number;
}

export interface RestoreRequest {
  memory: MemoryField;
  backup_id: string;
  if_version?: string | null;
  operation_id?: string | null;
  contract?: number;
}

export type RetriedErrorType =
  | 'MemoryBackpressure'
  | 'MemoryBusy'
  | 'MemoryContractTooNew'
  | 'MemoryModelUnavailable'
  | 'MemoryRedactionFailed'
  | 'MemorySummaryRejected'
  | 'MemoryUnavailable'
  | 'MemoryWrongWorker';

export interface StatsGroup {
  name: string;
  messages: number;
  tokens: number;
}

export interface StatsRequest {
  memory: MemoryField;
  group_by?: 'role' | 'author' | 'section' | 'day' | null;
  contract?: number;
}

export interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface ToolCallInput {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface TouchAnswer {
  touched: string[];
}

export interface TouchRequest {
  memory: MemoryField;
  ids: string[];
  contract?: number;
}

export interface Turn {
  messages: Message[];
  result: AppendResult;
}

export interface View {
  messages: Message[];
  tokens: number;
  version: string;
  omitted: Omitted;
  flush_due: boolean;
}

export interface WriteRequest {
  memory: MemoryField;
  messages: MessageInput[];
  if_version?: string | null;
  operation_id?: string | null;
  contract?: number;
}
