import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'

/** Adds the column of the checksums, and fills it from the stored orders. */
export function fillChecksums(db: DatabaseSync): void {
  const trigger = db
    .prepare("SELECT sql FROM sqlite_schema WHERE name = 'update_order_lookups'")
    .get() as { sql: string }
  db.function('crc32', (json) => crc32(json as Uint8Array))
  // The trigger would replace the lookups of every order, which stay the same.
  db.exec(`
    DROP TRIGGER update_order_lookups;
    ALTER TABLE orders ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    UPDATE orders SET checksum = crc32(json);
    ${trigger.sql};
  `)
}
