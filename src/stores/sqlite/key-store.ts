import type { SQLOutputValue } from 'node:sqlite'
import type { KeyRecord, KeyStore, Scope } from '../../auth/key-store.ts'
import type { PepperCheckStore } from '../../auth/pepper-check.ts'
import type { GuardedDatabase } from './database/guarded-database.ts'

type Row = Record<string, SQLOutputValue>

/** Keys and accounts in an embedded database. */
export function createSqliteKeyStore(db: GuardedDatabase): KeyStore {
  const selectByDigest = db.prepare(
    'SELECT api_keys.*, accounts.blocked FROM api_keys LEFT JOIN accounts ON accounts.id = account_id WHERE digest = ?',
  )
  const selectByAccount = db.prepare(
    'SELECT * FROM api_keys WHERE account_id = ? ORDER BY created_at, key_id',
  )
  const selectById = db.prepare('SELECT * FROM api_keys WHERE key_id = ?')
  const selectUsed = db.prepare('SELECT 1 FROM api_keys WHERE last_valid_at IS NOT NULL LIMIT 1')
  const insert = db.prepare(`
    INSERT INTO api_keys
      (key_id, digest, account_id, scopes, name, last_four, created_at, life_ms, expires_at, revoked_at, last_valid_at, is_test)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const update = db.prepare(`
    UPDATE api_keys SET
      revoked_at = coalesce(?1, revoked_at),
      last_valid_at = coalesce(?2, last_valid_at)
    WHERE digest = ?3`)
  const expire = db.prepare(`
    UPDATE api_keys SET expires_at = coalesce(min(expires_at, ?1), ?1) WHERE digest = ?2
    RETURNING expires_at`)
  const setBlocked = db.prepare('INSERT OR REPLACE INTO accounts (id, blocked) VALUES (?, ?)')
  const selectBlocked = db.prepare('SELECT blocked FROM accounts WHERE id = ?')

  return {
    async find(digest) {
      const row = db.run(() => selectByDigest.get(digest))
      return row ? { key: keyRecord(row), accountBlocked: row['blocked'] === 1 } : null
    },
    async ping() {
      db.run(() => selectByDigest.get(''))
    },
    async list(accountId) {
      return db.run(() => selectByAccount.all(accountId)).map(keyRecord)
    },
    async byId(keyId) {
      const row = db.run(() => selectById.get(keyId))
      return row ? keyRecord(row) : null
    },
    async wasAnyKeyUsed() {
      return db.run(() => selectUsed.get()) !== undefined
    },
    async insert(key) {
      db.write(() =>
        insert.run(
          key.keyId,
          key.digest,
          key.accountId,
          key.scopes.join(' '),
          key.name,
          key.lastFour,
          key.createdAt,
          key.ttlMs,
          key.expiresAt,
          key.revokedAt,
          key.lastValidAt,
          key.isTest ? 1 : 0,
        ),
      )
    },
    async update(digest, { revokedAt = null, lastValidAt = null }) {
      db.write(() => update.run(revokedAt, lastValidAt, digest))
    },
    async expire(digest, endsAt) {
      const row = db.write(() => expire.get(endsAt, digest))
      if (row === undefined) throw new Error('the key to expire is missing')
      return row['expires_at'] as number
    },
    async setAccountBlocked(accountId, blocked) {
      db.write(() => setBlocked.run(accountId, blocked ? 1 : 0))
    },
    async isAccountBlocked(accountId) {
      return db.run(() => selectBlocked.get(accountId))?.['blocked'] === 1
    },
  }
}

function keyRecord(row: Row): KeyRecord {
  return {
    keyId: row['key_id'] as string,
    digest: row['digest'] as string,
    accountId: row['account_id'] as string,
    isTest: row['is_test'] === 1,
    scopes: (row['scopes'] as string).split(' ').filter(Boolean) as Scope[],
    name: row['name'] as string | null,
    lastFour: row['last_four'] as string,
    createdAt: row['created_at'] as number,
    ttlMs: row['life_ms'] as number | null,
    expiresAt: row['expires_at'] as number | null,
    revokedAt: row['revoked_at'] as number | null,
    lastValidAt: row['last_valid_at'] as number | null,
  }
}

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
