import type { PepperCheckStore } from '../../auth/pepper-check.ts'
import type { GuardedDatabase } from './database/guarded-database.ts'

/** The check value of the pepper in the database of the keys. */
export function createSqlitePepperCheck(db: GuardedDatabase): PepperCheckStore {
  const select = db.prepare('SELECT check_value FROM pepper')
  const replace = db.prepare('INSERT OR REPLACE INTO pepper VALUES (1, ?)')
  return {
    async read() {
      return (db.run(() => select.get())?.['check_value'] as string | undefined) ?? null
    },
    async replace(check) {
      db.write(() => replace.run(check))
    },
    async hasKeys() {
      return hasKeys(db)
    },
  }
}

/** Whether any key is stored, also an expired or revoked one. @throws Unavailable */
export function hasKeys(db: GuardedDatabase): boolean {
  return db.run(() => db.prepare('SELECT 1 FROM api_keys LIMIT 1').get()) !== undefined
}
