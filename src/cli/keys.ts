import { type Command, Option } from 'commander'
import type { KeyRecord, KeyStore, Scope } from '../auth/key-store.ts'
import { type IssuedKey, inactiveReason, issueKey, rollKey } from '../auth/keys.ts'
import { formatInstant } from '../lib/instant.ts'
import { account, duration, expiry, scopeList } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, printTable } from './output.ts'
import type { WithKeys } from './with-services.ts'

interface CreateOptions {
  account: string
  scopes: Scope[]
  expires?: number
  name?: string
  json?: boolean
}

/** `keys create | list | revoke | roll`. */
export function addKeys(keys: Command, withKeys: WithKeys, context: CommandContext): void {
  const { stderr } = context
  const now = Date.now()

  keys
    .command('create')
    .description('create a key and print it, once')
    .requiredOption('--account <id>', 'the account whose orders it reads', account)
    .addOption(
      new Option('--scopes <list>', "its scopes; '' for none")
        .argParser(scopeList)
        .default(['orders:read'], 'orders:read'),
    )
    .option('--expires <when>', 'a duration such as 90d, or an instant with zone', expiry(now))
    .option('--name <text>', 'a label that identifies the key')
    .option('--json', 'print it with its record as JSON')
    .action(async ({ account: accountId, scopes, expires, name, json }: CreateOptions) =>
      withKeys(async (services) => {
        const grant = { accountId, scopes, name: name ?? null, expiresAt: expires ?? null }
        printIssued(await issueKey(services, grant, now), json, context)
      }),
    )

  keys
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <id>', 'the account', account)
    .option('--json', 'print them as JSON')
    .action(async ({ account: accountId, json }: { account: string; json?: boolean }) =>
      withKeys(async (services) => {
        const records = await services.keys.list(accountId)
        const rows = records.map((record) => toPublicRecord(record, now))
        if (json) printJson(rows, context)
        else printTable(rows, context)
      }),
    )

  keys
    .command('revoke')
    .description('revoke a key; takes effect within 5 seconds')
    .argument('<key_id>', 'its id, as "keys list" prints it')
    .action(async (keyId: string) =>
      withKeys(async (services) => {
        const { digest, revokedAt } = await existingKey(services.keys, keyId)
        if (revokedAt === null) await services.keys.update(digest, { revokedAt: now })
        stderr.write(`${keyId} is revoked\n`)
      }),
    )

  keys
    .command('roll')
    .description('print a successor of a key; the old key expires after the overlap')
    .argument('<key_id>', 'its id, as "keys list" prints it')
    .addOption(
      new Option('--overlap <span>', 'how long both keys are valid')
        .argParser(duration)
        .default(duration('24h'), '24h'),
    )
    .option('--json', 'print it with its record as JSON')
    .action(async (keyId: string, { overlap, json }: { overlap: number; json?: boolean }) =>
      withKeys(async (services) => {
        const old = await existingKey(services.keys, keyId)
        const issued = await rollKey(services, old, overlap, now)
        const { expiresAt } = await existingKey(services.keys, keyId)
        if (expiresAt !== null) stderr.write(`${keyId} ends at ${formatInstant(expiresAt)}\n`)
        printIssued(issued, json, context)
      }),
    )
}

async function existingKey(keys: KeyStore, keyId: string): Promise<KeyRecord> {
  if (keyId.startsWith('key_live_')) {
    throw new Error('that is a key, not a key id; "keys list" prints the key ids')
  }
  const record = await keys.byId(keyId)
  if (record === null) throw new Error(`there is no key ${keyId}; "keys list" prints the key ids`)
  return record
}

function printIssued(
  { key, record }: IssuedKey,
  json: boolean | undefined,
  { stdout, stderr }: Pick<CommandContext, 'stdout' | 'stderr'>,
): void {
  if (!json) {
    stderr.write(`${record.keyId} for ${record.accountId}; the key is shown this once:\n`)
    stdout.write(`${key}\n`)
    return
  }
  const { key_id, account_id, scopes, expires_at } = toPublicRecord(record, record.createdAt)
  printJson({ key, key_id, account_id, scopes, expires_at }, { stdout })
}

function toPublicRecord(record: KeyRecord, now: number) {
  return {
    key_id: record.keyId,
    account_id: record.accountId,
    name: record.name,
    last_four: record.lastFour,
    scopes: record.scopes,
    state: inactiveReason(record, now) ?? 'active',
    created_at: formatInstant(record.createdAt),
    expires_at: orNull(record.expiresAt),
    revoked_at: orNull(record.revokedAt),
    last_valid_at: orNull(record.lastValidAt),
  }
}

function orNull(at: number | null): string | null {
  return at === null ? null : formatInstant(at)
}
