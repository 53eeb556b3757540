import type { DatabaseSync } from 'node:sqlite'
import type { GuardedDatabase } from '../../../src/stores/sqlite/database/guarded-database.ts'

/** The statements that a store prepares. `create`: creates it on this database. */
export function statementsOf(
  db: DatabaseSync,
  create: (recording: GuardedDatabase) => void,
): string[] {
  const prepared: string[] = []
  create({
    prepare(sql) {
      prepared.push(sql)
      return db.prepare(sql)
    },
    run: (work) => work(),
    write: (work) => work(),
    close() {},
  })
  return prepared
}

/** The steps of a statement. */
export const planOf = (db: DatabaseSync, sql: string): string[] =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))
