/**
 * `usage_counters`: one row for each day, key and run of a process. `sessions` and `session_links`
 * contain digests of secrets only. `response_body` never has a key or a secret.
 */
export const managementMigrations = [
  `
  CREATE TABLE audit_entries (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    account_id TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    request_id TEXT,
    outcome TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_entries_by_instant ON audit_entries (at, id);
  CREATE INDEX audit_entries_by_account ON audit_entries (account_id, at, id);

  CREATE TABLE usage_counters (
    account_id TEXT NOT NULL,
    day TEXT NOT NULL,
    key_id TEXT NOT NULL,
    process_id TEXT NOT NULL,
    requests INTEGER NOT NULL,
    by_status TEXT NOT NULL,
    rate_limited INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, key_id, process_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_counters_by_day ON usage_counters (day);

  CREATE TABLE session_links (
    digest TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    session_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sessions (
    digest TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE idempotent_requests (
    id TEXT PRIMARY KEY,
    body_digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    response_status INTEGER,
    response_body TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotent_requests_by_instant ON idempotent_requests (created_at);
  `,
  // The last source order of each order of a sandbox.
  `
  CREATE TABLE sandbox_orders (
    account_id TEXT NOT NULL,
    order_id TEXT NOT NULL,
    scenario TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (account_id, order_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sandbox_orders_by_instant ON sandbox_orders (account_id, made_at, order_id);
  `,
  // Those that count for the limit of an account.
  `
  CREATE INDEX sandbox_orders_kept ON sandbox_orders (account_id)
    WHERE json_extract(source, '$.deleted') IS NULL;
  `,
  // Entries of earlier rolls do not name the key that was created.
  `
  ALTER TABLE audit_entries ADD COLUMN successor TEXT;
  `,
  // The last move with an Idempotency-Key.
  `
  ALTER TABLE sandbox_orders ADD COLUMN last_request_id TEXT;
  ALTER TABLE sandbox_orders ADD COLUMN last_request_at INTEGER;
  `,
  // The last use of each key, whatever the number of its counters.
  `
  CREATE INDEX usage_counters_last_use ON usage_counters (account_id, key_id, last_used_at);
  `,
] as const
