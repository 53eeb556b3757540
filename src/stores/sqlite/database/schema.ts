import type { DatabaseSync } from 'node:sqlite'
import { NULL_INSTANT_KEY } from '../../../orders/order-store.ts'
import { fillChecksums } from './fill-checksums.ts'
import { fillLookups } from './fill-lookups.ts'

/** A statement, or several of them with values that SQL cannot compute. */
export type Migration = string | ((db: DatabaseSync) => void)

/**
 * `orders`: one row per order and account, with the role applied. Each sort scans an index that
 * covers the filters, so SQLite fetches only the rows of the page. Text compares by bytes (SQLite's
 * default), as the sort by id requires.
 *
 * `checksum` is the CRC-32 of the stored JSON, by which a page identifies its content.
 *
 * `order_heads`: the version record of each order, even a deleted one. `writer` has one row: the
 * last write timestamp, its clock reading (`write-timestamps.ts`), and whether any bulk was live.
 *
 * `order_lookups`: a row for each text by which a filter finds an order, with the columns of the
 * other filters. Triggers derive it from `orders.lookups`.
 *
 * `order_events`: what writes announced, in the order of their commits. `event_feed` identifies
 * this file, because positions start again after its loss.
 */
export const ordersMigrations = [
  `
  CREATE TABLE orders (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    shape INTEGER NOT NULL,
    status TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    created_key INTEGER NOT NULL,
    updated_key INTEGER NOT NULL,
    written_key INTEGER NOT NULL,
    json BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX orders_by_id ON orders (account_id, id);
  CREATE INDEX orders_by_created
    ON orders (account_id, created_key, id, status, payment_method, updated_key);
  CREATE INDEX orders_by_updated
    ON orders (account_id, updated_key, id, status, payment_method, created_key, written_key);
  CREATE INDEX orders_by_written ON orders (account_id, written_key, id);

  CREATE TABLE order_heads (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    owner_account_id TEXT NOT NULL,
    account_ids TEXT NOT NULL,
    created_key INTEGER,
    filled INTEGER NOT NULL,
    deleted INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE writer (last_stamp INTEGER NOT NULL) STRICT;
  INSERT INTO writer VALUES (0);
  `,
  `
  ALTER TABLE writer ADD COLUMN boot_id TEXT;
  ALTER TABLE writer ADD COLUMN clock_ms INTEGER;
  ALTER TABLE writer ADD COLUMN uptime_ms INTEGER;
  ALTER TABLE writer ADD COLUMN monotonic_ms INTEGER;
  `,
  // An order dated with its write timestamp may be of a live bulk; no other column shows that.
  `
  ALTER TABLE writer ADD COLUMN stamped_live INTEGER NOT NULL DEFAULT 0;
  UPDATE writer SET stamped_live = EXISTS (SELECT 1 FROM orders WHERE updated_key = written_key);
  `,
  `
  ALTER TABLE order_heads ADD COLUMN announced TEXT;
  CREATE TABLE order_events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    recorded_at INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE event_feed (id TEXT NOT NULL) STRICT;
  INSERT INTO event_feed VALUES (lower(hex(randomblob(16))));
  `,
  // An erasure must find the records of its order.
  `
  CREATE INDEX order_events_by_order ON order_events (json_extract(record, '$.orderId'));
  `,
  fillLookups,
  // `seek-paid-range.ts` skips orders by their place in a sort, except these.
  `
  CREATE INDEX orders_paid_before_creation ON orders (account_id, paid_key, created_key)
    WHERE paid_key < created_key;
  CREATE INDEX orders_paid_after_update ON orders (account_id, paid_key, updated_key)
    WHERE paid_key > updated_key AND paid_key < ${NULL_INSTANT_KEY};
  `,
  fillChecksums,
  // The clock reading of an earlier release may be ahead. The next writer starts from its own.
  `
  UPDATE writer SET boot_id = NULL;
  `,
] as const satisfies readonly Migration[]

/**
 * Keys and accounts have a file of their own: recording the use of a key never waits for a load.
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
  // Keys of a sandbox.
  `
  ALTER TABLE api_keys ADD COLUMN is_test INTEGER NOT NULL DEFAULT 0;
  `,
  // The check value of the pepper.
  `
  CREATE TABLE pepper (id INTEGER PRIMARY KEY CHECK (id = 1), check_value TEXT NOT NULL) STRICT;
  `,
] as const
