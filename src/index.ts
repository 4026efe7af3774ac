/**
 * The method: a team of agents becomes one model. Stages, runs, recording of your own agents, grammars, tools, tasks, answer
 * checks, rollouts and evaluation. Engines and tokenizers are in `chain-of-agents/engine`, the stored records in
 * `chain-of-agents/schema`, and test doubles in `chain-of-agents/testing`.
 */
/*
 * Every name in this file and in the public.ts of engine, schema and testing is public and covered by the version number; nothing
 * else is. Add one on purpose: test/repo/public-surface.test.ts pins the list. Each function and class needs an @example.
 */
import './settings/require-node.ts'

// Stages

export type { RolloutSection, StudentConfig } from './agent/settings.ts'
export type { Observe, Progress, Spotlight } from './base/progress/index.ts'
export {
  distill,
  evaluate,
  filter,
  prepareTasks,
  type RunStagesContext,
  rl,
  runStage,
  runStages,
  type Stage,
  type StageContext,
  type StageOutcome,
  type StageSummary,
  sft,
  stages,
  teach,
} from './pipeline/index.ts'
export { ProjectConfig, projectConfig } from './pipeline/settings.ts'
export type { ProjectOptions, ProjectSection, ResolvedConfig } from './settings/index.ts'
export type { EvalSection } from './stages/eval/settings.ts'
export type { WorldConfig } from './world/settings.ts'

// Runs

export {
  type Comparison,
  type ComparisonRow,
  type ReportOptions,
  writeReport,
} from './pipeline/report/index.ts'
export {
  type CheckContext as ExportCheckContext,
  type CheckResult,
  checkExport,
  type ExportConfig,
  type ExportContext,
  type ExportSummary,
  exportRun,
  type FormatSummary,
} from './stages/export/index.ts'
export { type FilterSummary, type Funnel, readFunnel } from './stages/filter/index.ts'
export { diagnose, type Finding, type RlSummary } from './stages/rl/index.ts'
export {
  type CreateRunOptions,
  createRun,
  type Durability,
  type ExportOptions,
  exportParquet,
  importParquet,
  type ListOptions,
  type LockOwner,
  listRuns,
  type MetricRow,
  type OpenRunOptions,
  openRun,
  type RecordInput,
  type Recovery,
  type Run,
  type RunSummary,
  type RunWatcher,
  readSelection,
  type Selected,
  type StageUpdate,
} from './store/index.ts'

// Teams and recording

export {
  type ChatHead,
  type ChatMessage,
  type DistillMap,
  type DistillOptions,
  type DistillSummary,
  distillTrajectory,
  trajectoryFromChat,
} from './stages/distill/index.ts'
export {
  type Activation,
  type AgentSpec,
  type AskOptions,
  type Memory,
  type Recorder,
  type Reply,
  recordAiSdk,
  recordRun,
  type TeamRun,
  type ToolFormat,
  type Topology,
  type TopologySettings,
  type Turn,
  topologies,
} from './stages/teach/index.ts'
export type { ObservableModel } from './world/models/index.ts'

// Grammars

export {
  type Agent,
  type Block,
  buildPrompt,
  builtinGrammars,
  type Chain,
  ChainParser,
  type Diagnostic,
  type DiagnosticCode,
  defineGrammar,
  extendGrammar,
  type Grammar,
  type GrammarInput,
  isWellFormed,
  loadGrammar,
  type ParseEvent,
  type ParserOptions,
  type Payload,
  type Prelude,
  parseChain,
  render,
  type Step,
  spansOf,
  systemPrompt,
  type ToolAgent,
  type Utterance,
  type Validation,
  type Violation,
} from './language/grammar/index.ts'
export type { VoiceOptions } from './language/voice/index.ts'

// Tools and models

export { openWorld, type World } from './agent/index.ts'
export {
  createJudge,
  type Judge,
  type JudgeCache,
  type JudgeCase,
  type JudgeModel,
  type JudgeOptions,
  type JudgePrompt,
} from './world/judge/index.ts'
export {
  type ChatModel,
  type Completion,
  type CompletionPrompt,
  type CompletionRequest,
  type Embedder,
  type EmbedderOptions,
  type Endpoint,
  type ModelFromOptions,
  modelFrom,
  openEmbedder,
  openModel,
  promptFunction,
  type RetryPolicy,
} from './world/models/index.ts'
export {
  type DriverName,
  openSandbox,
  type Sandbox,
  type SandboxDescription,
  type SandboxLimits,
  type SandboxOptions,
  type SandboxRequest,
  type SandboxResult,
} from './world/sandbox/index.ts'
export {
  type BuildOptions,
  type BuildResult,
  buildCorpus,
  type CallOptions,
  callTool,
  defineTool,
  type McpOptions,
  type McpServer,
  type McpTools,
  type OutputStore,
  openMcp,
  openToolbox,
  type Tool,
  type Toolbox,
  type ToolboxSettings,
  type ToolContext,
  type ToolDefinition,
  type ToolOutput,
  type ToolResult,
  type ToolState,
} from './world/tools/index.ts'

// Tasks and rewards

export {
  type CheckContext,
  type CodeOptions,
  type CodeSandbox,
  checkAnswer,
  type RewardOptions,
  rewardOf,
} from './reward/index.ts'
export {
  type Benchmark,
  benchmarks,
  type ColumnMap,
  type GeneratedTask,
  openTasks,
  type PulledBenchmark,
  type PullOptions,
  pullBenchmark,
  type ReadOptions as ReadTasksOptions,
  type RowReport,
  readTasks,
  type Split,
  type Suite,
  suites,
  type TaskRequest,
  type TaskSource,
  type ValidateOptions,
  type ValidationReport,
  validateTasks,
} from './tasks/index.ts'

// Questions to a model

export type { ChainEvent } from './agent/index.ts'
export { type ChainOfAgentsOptions, chainOfAgents } from './pipeline/ai-sdk/chain-of-agents.ts'
export type {
  ChainOfAgentsModel,
  ModelCall,
  ModelContent,
  ModelPart,
  ModelResult,
  ModelWarning,
} from './pipeline/ai-sdk/language-model.ts'
export type { PickAnswer } from './pipeline/answer-picker.ts'
export {
  type ChainModelOptions,
  type ModelOptions,
  type OpenedModel,
  type QuestionOptions,
  type Solved,
  type SolveOptions,
  type Solving,
  solve,
} from './pipeline/solve/index.ts'

// Rollouts and evaluation

export {
  openStudent,
  type Policy,
  type RollOutOptions,
  type RolloutJob,
  type RolloutSettings,
  rollOut,
  rolloutSettings,
  type Student,
} from './agent/index.ts'
export {
  type Attempt,
  type MakeReportOptions,
  type ModelSolverOptions,
  makeReport as makeEvalReport,
  mcnemar,
  modelSolver,
  passAtK,
  type ReportFiles as EvalReportFiles,
  type SolveAllContext,
  type Solver,
  solveAll,
  wilson,
} from './stages/eval/index.ts'

// Errors

export { type Boundary, CoaError, type CoaErrorOptions, ToolError } from './base/errors/index.ts'
