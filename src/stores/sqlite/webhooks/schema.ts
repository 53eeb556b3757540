/**
 * `endpoints`: `revision` is the value of `endpoint_revision` at the last change. The counter only
 * grows, because the row with the greatest revision may be removed.
 *
 * `deliveries` contains its event, so one row is all that an attempt needs. Each query has an
 * index. Those of pending, failing, failed, held and ended rows are partial, so each is as small as
 * the number of such rows. `sequence` is 0 for a test event. `excerpt_at` is the instant of the
 * oldest attempt with an excerpt.
 *
 * `event_cursors`: up to which row of `order_events` deliveries exist, and when that row was
 * recorded; one for each file that ever was `orders.db`. `dispatcher`: the last holder of the
 * lease.
 */
export const webhooksMigrations = [
  `
  CREATE TABLE endpoint_revision (last INTEGER NOT NULL) STRICT;
  INSERT INTO endpoint_revision VALUES (0);
  CREATE TABLE endpoints (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    url TEXT NOT NULL,
    events TEXT,
    payload TEXT NOT NULL,
    description TEXT,
    disabled_reason TEXT,
    created_at INTEGER NOT NULL,
    starts_at INTEGER NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    failing_since INTEGER,
    last_success_at INTEGER,
    is_breaker_open INTEGER NOT NULL,
    notices_sent INTEGER NOT NULL,
    deleted_at INTEGER,
    revision INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX endpoints_by_account ON endpoints (account_id, created_at, id);
  CREATE UNIQUE INDEX endpoints_by_revision ON endpoints (revision);

  CREATE TABLE deliveries (
    id TEXT NOT NULL UNIQUE,
    endpoint_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    order_id TEXT,
    sequence INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    change TEXT NOT NULL,
    state TEXT NOT NULL,
    next_at INTEGER,
    attempts TEXT NOT NULL,
    excerpt_at INTEGER,
    step INTEGER NOT NULL,
    first_failed_at INTEGER,
    held_at INTEGER,
    revision INTEGER NOT NULL,
    CHECK ((state = 'pending') = (next_at IS NOT NULL))
  ) STRICT;
  CREATE INDEX deliveries_pending
    ON deliveries (endpoint_id, next_at, recorded_at, sequence, order_id) WHERE state = 'pending';
  CREATE INDEX deliveries_failing ON deliveries (endpoint_id, first_failed_at)
    WHERE state = 'pending' AND first_failed_at IS NOT NULL;
  CREATE INDEX deliveries_failed ON deliveries (endpoint_id, recorded_at, sequence)
    WHERE state IN ('failed', 'expired');
  CREATE INDEX deliveries_held ON deliveries (endpoint_id) WHERE state = 'held';
  CREATE INDEX deliveries_by_hold ON deliveries (held_at) WHERE state = 'held';
  CREATE INDEX deliveries_ended ON deliveries (recorded_at)
    WHERE state NOT IN ('pending', 'held');
  CREATE INDEX deliveries_by_event ON deliveries (endpoint_id, recorded_at, sequence);
  CREATE INDEX deliveries_by_order ON deliveries (order_id, account_id, sequence)
    WHERE order_id IS NOT NULL;
  CREATE INDEX deliveries_with_excerpt ON deliveries (excerpt_at) WHERE excerpt_at IS NOT NULL;

  CREATE TABLE event_cursors (
    feed_id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dispatcher (id INTEGER PRIMARY KEY CHECK (id = 1), holder TEXT NOT NULL) STRICT;
  `,
] as const
