/** Increment whenever the tables or what is in them change: an index of another version is built again. */
export const TABLES_VERSION = 1

/**
 * What lists show, sort and select by; everything else is read from the log when it is opened. `seq` is the position in the log of
 * the last version of a record. `step` is null outside of RL.
 */
export const tables = `
  CREATE TABLE IF NOT EXISTS progress (bytes INTEGER NOT NULL, tail TEXT NOT NULL, filter TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS tally (kind TEXT PRIMARY KEY, records INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS task (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, suite TEXT NOT NULL, domain TEXT NOT NULL,
    split TEXT, level INTEGER, question TEXT NOT NULL, isTest INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS task_seq ON task (seq);

  CREATE TABLE IF NOT EXISTS trajectory (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, taskId TEXT NOT NULL, suite TEXT NOT NULL,
    team TEXT NOT NULL, outcome TEXT NOT NULL, question TEXT NOT NULL, answer TEXT, events INTEGER NOT NULL,
    agents INTEGER NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL, seconds REAL NOT NULL);
  CREATE INDEX IF NOT EXISTS trajectory_seq ON trajectory (seq);
  CREATE INDEX IF NOT EXISTS trajectory_task ON trajectory (taskId, seq);

  CREATE TABLE IF NOT EXISTS chain (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, taskId TEXT, trajectoryId TEXT, suite TEXT NOT NULL,
    grammar TEXT NOT NULL, origin TEXT NOT NULL, outcome TEXT NOT NULL, question TEXT NOT NULL, spans INTEGER NOT NULL,
    calls INTEGER NOT NULL, characters INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS chain_seq ON chain (seq);
  CREATE INDEX IF NOT EXISTS chain_task ON chain (taskId, seq);
  CREATE INDEX IF NOT EXISTS chain_trajectory ON chain (trajectoryId, seq);

  CREATE TABLE IF NOT EXISTS decision (id TEXT PRIMARY KEY, kept INTEGER NOT NULL, weight INTEGER, stage TEXT, reason TEXT,
    detail TEXT) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS decision_reason ON decision (stage, reason);

  CREATE TABLE IF NOT EXISTS rollout (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, taskId TEXT NOT NULL, groupId TEXT NOT NULL,
    suite TEXT NOT NULL, step INTEGER, checkpoint TEXT NOT NULL, outcome TEXT NOT NULL, reward REAL, advantage REAL,
    stop TEXT NOT NULL, wellFormed INTEGER NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL,
    toolTokens INTEGER NOT NULL, seconds REAL NOT NULL, answer TEXT, failure TEXT, billed INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS rollout_seq ON rollout (seq);
  CREATE INDEX IF NOT EXISTS rollout_step ON rollout (step, seq);
  CREATE INDEX IF NOT EXISTS rollout_group ON rollout (groupId, seq);
  CREATE INDEX IF NOT EXISTS rollout_task ON rollout (taskId, seq);
  CREATE INDEX IF NOT EXISTS rollout_outcome ON rollout (outcome, stop, seq);
  CREATE INDEX IF NOT EXISTS rollout_reward ON rollout (reward, seq) WHERE reward IS NOT NULL;
  CREATE INDEX IF NOT EXISTS rollout_advantage ON rollout (advantage, seq) WHERE advantage IS NOT NULL;
  CREATE INDEX IF NOT EXISTS rollout_tokens ON rollout (tokens, seq);

  CREATE TABLE IF NOT EXISTS grp (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, step INTEGER, taskId TEXT NOT NULL, suite TEXT NOT NULL,
    rollouts INTEGER NOT NULL, correct INTEGER NOT NULL, reward REAL, spread REAL);
  CREATE INDEX IF NOT EXISTS grp_seq ON grp (seq);
  CREATE INDEX IF NOT EXISTS grp_step ON grp (step, seq);
  CREATE INDEX IF NOT EXISTS grp_task ON grp (taskId, seq);
  CREATE INDEX IF NOT EXISTS grp_reward ON grp (reward, seq) WHERE reward IS NOT NULL;
  CREATE INDEX IF NOT EXISTS grp_spread ON grp (spread, seq) WHERE spread IS NOT NULL;

  CREATE TABLE IF NOT EXISTS step (step INTEGER PRIMARY KEY, rollouts INTEGER NOT NULL, groups INTEGER NOT NULL,
    equalGroups INTEGER NOT NULL, meanReward REAL, correct INTEGER NOT NULL, meanTokens REAL NOT NULL, meanCalls REAL NOT NULL,
    stops TEXT NOT NULL);

  CREATE TABLE IF NOT EXISTS attempt (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, taskId TEXT NOT NULL, suite TEXT NOT NULL,
    solver TEXT NOT NULL, kind TEXT NOT NULL, attempt INTEGER NOT NULL, outcome TEXT NOT NULL, answer TEXT, tokens INTEGER NOT NULL,
    calls INTEGER NOT NULL, seconds REAL NOT NULL, failure TEXT, sourceKind TEXT, sourceId TEXT);
  CREATE INDEX IF NOT EXISTS attempt_task ON attempt (taskId, seq);

  CREATE TABLE IF NOT EXISTS mark (id TEXT PRIMARY KEY, recordKind TEXT NOT NULL, recordId TEXT NOT NULL, seq INTEGER NOT NULL, rating TEXT NOT NULL,
    note TEXT, by TEXT NOT NULL, at TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS mark_record ON mark (recordId, at);
  CREATE INDEX IF NOT EXISTS mark_seq ON mark (seq);
`
