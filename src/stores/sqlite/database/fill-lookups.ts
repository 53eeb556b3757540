import type { DatabaseSync } from 'node:sqlite'
import { parseJson } from '../../../lib/text/json.ts'
import { lookupsOf, paidAtOf } from '../../../orders/lookups.ts'
import type { Order } from '../../../orders/order.ts'
import { NULL_INSTANT_KEY } from '../../../orders/order-store.ts'

/**
 * Adds the columns of the filters by payment and by text, and fills them from the stored orders.
 * Reads a page of orders at a time; sorts in temporary files.
 */
export function fillLookups(db: DatabaseSync): void {
  db.exec(`
    ALTER TABLE orders ADD COLUMN paid_key INTEGER NOT NULL DEFAULT ${NULL_INSTANT_KEY};
    ALTER TABLE orders ADD COLUMN lookups TEXT NOT NULL DEFAULT '{}';
  `)
  fillColumns(db)
  // Each index follows its rows, because a sort is cheaper than insertions at random places.
  db.exec(`
    DROP INDEX orders_by_created;
    CREATE INDEX orders_by_created
      ON orders (account_id, created_key, id, status, payment_method, updated_key, paid_key);
    DROP INDEX orders_by_updated;
    CREATE INDEX orders_by_updated
      ON orders (account_id, updated_key, id, status, payment_method, created_key, written_key, paid_key);
    CREATE INDEX orders_by_paid
      ON orders (account_id, paid_key, created_key, id, status, payment_method, updated_key, written_key);

    CREATE TABLE order_lookups (
      account_id TEXT NOT NULL,
      field TEXT NOT NULL,
      value TEXT NOT NULL,
      created_key INTEGER NOT NULL,
      id TEXT NOT NULL,
      status TEXT NOT NULL,
      payment_method TEXT NOT NULL,
      updated_key INTEGER NOT NULL,
      written_key INTEGER NOT NULL,
      paid_key INTEGER NOT NULL,
      PRIMARY KEY (account_id, field, value, created_key, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO order_lookups ${lookupRows('orders', 'orders, ')} ORDER BY 1, 2, 3, 4, 5;
    CREATE INDEX order_lookups_by_updated ON order_lookups
      (account_id, field, value, updated_key, id, status, payment_method, created_key, written_key, paid_key);

    CREATE TRIGGER insert_order_lookups AFTER INSERT ON orders BEGIN ${INSERT_LOOKUPS}; END;
    CREATE TRIGGER update_order_lookups AFTER UPDATE ON orders BEGIN
      ${DELETE_LOOKUPS};
      ${INSERT_LOOKUPS};
    END;
    CREATE TRIGGER delete_order_lookups AFTER DELETE ON orders BEGIN ${DELETE_LOOKUPS}; END;
  `)
}

const PAGE_SIZE = 500

function fillColumns(db: DatabaseSync): void {
  const select = db.prepare('SELECT rowid, json FROM orders WHERE rowid > ? ORDER BY rowid LIMIT ?')
  const update = db.prepare('UPDATE orders SET paid_key = ?, lookups = ? WHERE rowid = ?')
  for (let after = 0; ; ) {
    const page = select.all(after, PAGE_SIZE) as unknown as { rowid: number; json: Uint8Array }[]
    for (const { rowid, json } of page) {
      const order = readOrder(json)
      const paidKey = paidAtOf(order) ?? NULL_INSTANT_KEY
      update.run(paidKey, JSON.stringify(lookupsOf(order)), rowid)
      after = rowid
    }
    if (page.length < PAGE_SIZE) return
  }
}

/** The rows of an order, or of all; `row`: its table, or the row of a trigger. */
const lookupRows = (row: 'orders' | 'NEW', from = '') =>
  `SELECT ${row}.account_id, field.key, text.value, ${row}.created_key, ${row}.id, ${row}.status, ${row}.payment_method, ${row}.updated_key, ${row}.written_key, ${row}.paid_key
   FROM ${from}json_each(${row}.lookups) AS field, json_each(field.value) AS text`

const INSERT_LOOKUPS = `INSERT INTO order_lookups ${lookupRows('NEW')}`

const DELETE_LOOKUPS = `DELETE FROM order_lookups
  WHERE account_id = OLD.account_id AND created_key = OLD.created_key AND id = OLD.id
    AND (field, value) IN (
      SELECT field.key, text.value FROM json_each(OLD.lookups) AS field, json_each(field.value) AS text
    )`

/** A stored order; empty when it is damaged, which a check of the index reports. */
function readOrder(json: Uint8Array): Partial<Order> {
  try {
    return Object(parseJson(Buffer.from(json).toString()))
  } catch {
    return {}
  }
}
