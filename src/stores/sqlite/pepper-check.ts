import type { DatabaseSync } from 'node:sqlite'
import type { PepperCheckStore } from '../../auth/pepper-check.ts'

/** The check value of the pepper in the database of the keys. */
export function createSqlitePepperCheck(db: DatabaseSync): PepperCheckStore {
  const select = db.prepare('SELECT check_value FROM pepper')
  const replace = db.prepare('INSERT OR REPLACE INTO pepper VALUES (1, ?)')
  const selectKey = db.prepare('SELECT 1 FROM api_keys LIMIT 1')
  return {
    async read() {
      return (select.get()?.['check_value'] as string | undefined) ?? null
    },
    async replace(check) {
      replace.run(check)
    },
    async hasKeys() {
      return selectKey.get() !== undefined
    },
  }
}
