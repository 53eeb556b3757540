/**
 * Keys and accounts have a file of their own: noting a key's use never waits for a load of orders.
 */
export const keysMigrations = [
  `
  CREATE TABLE api_keys (
    key_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL,
    scopes TEXT NOT NULL,
    name TEXT,
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    life_ms INTEGER,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_valid_at INTEGER
  ) STRICT;
  CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);

  CREATE TABLE accounts (id TEXT PRIMARY KEY, blocked INTEGER NOT NULL) STRICT;
  `,
] as const
