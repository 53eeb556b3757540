import { type Command, Option } from 'commander'
import { inactiveReason } from '../auth/inactive-reason.ts'
import type { KeyRecord, Scope } from '../auth/key-store.ts'
import { formatInstant, formatInstantOrNull } from '../lib/instant.ts'
import { CLI_ACTOR } from '../management/audit/audit-entry.ts'
import { lastUseOfKeys, latestUse } from '../management/keys/key-json.ts'
import type { MadeKey } from '../management/keys/key-maker.ts'
import { account, duration, expiry, scopeList } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { type JsonFlag, jsonText, printResult, printSecret } from './output.ts'
import type { WithKeyManagement } from './with-services.ts'

interface CreateOptions extends JsonFlag {
  account: string
  test?: true
  scopes: Scope[]
  expires?: number
  name?: string
}

/** `keys create | list | revoke | roll`. */
export function addKeys(keys: Command, withKeys: WithKeyManagement, context: CommandContext): void {
  const { stderr } = context
  const now = Date.now()

  keys
    .command('create')
    .description('create a key and print it, once')
    .requiredOption('--account <id>', 'the account whose orders it reads', account)
    .option('--test', "a key of the account's sandbox")
    .addOption(
      new Option(
        '--scopes <list>',
        "orders:read, or orders:read_masked for orders without personal data; '' for none",
      )
        .argParser(scopeList)
        .default(['orders:read'], 'orders:read'),
    )
    .option('--expires <when>', 'a duration such as 90d, or an instant with zone', expiry(now))
    .option('--name <text>', 'a label that identifies the key')
    .option('--json', 'print it with its record as JSON')
    .action(async ({ account: accountId, test, scopes, expires, name, json }: CreateOptions) =>
      withKeys(async ({ keys, isPepperOfKeys }) => {
        const isAccepted = await isPepperOfKeys()
        const until = expires === undefined ? null : { at: expires }
        const isTest = test ?? false
        const request = { accountId, isTest, scopes, name: name ?? null, expires: until }
        await printIssued(await keys.create(CLI_ACTOR, request), json, context)
        if (!isAccepted) stderr.write(OTHER_PEPPER)
      }),
    )

  keys
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <id>', 'the account', account)
    .option('--json', 'print them as JSON')
    .action(async ({ account: accountId, json }: JsonFlag & { account: string }) =>
      withKeys(async ({ keys, stores }) => {
        const records = await keys.list(accountId)
        const usedAt = await lastUseOfKeys(stores.usage, accountId)
        const rows = records.map((record) =>
          toPublicRecord(record, now, usedAt.get(record.keyId) ?? null),
        )
        printResult(json, rows, rows, context)
      }),
    )

  keys
    .command('revoke')
    .description('revoke a key; takes effect within 5 seconds')
    .argument('<key_id>', 'its id, as "keys list" prints it')
    .action(async (keyId: string) =>
      withKeys(async ({ keys }) => {
        await keys.revoke(CLI_ACTOR, { id: keyId })
        stderr.write(`${keyId} is revoked\n`)
      }),
    )

  keys
    .command('roll')
    .description('print a successor of a key; the old key expires after the overlap')
    .argument('<key_id>', 'its id, as "keys list" prints it')
    .addOption(
      new Option('--overlap <span>', 'how long both keys are valid, at most 30d')
        .argParser(duration)
        .default(duration('24h'), '24h'),
    )
    .option('--json', 'print it with its record as JSON')
    .action(async (keyId: string, { overlap, json }: JsonFlag & { overlap: number }) =>
      withKeys(async ({ keys, isPepperOfKeys }) => {
        const isAccepted = await isPepperOfKeys()
        const issued = await keys.roll(CLI_ACTOR, { id: keyId }, overlap)
        const { expiresAt } = issued.old
        if (expiresAt !== null) stderr.write(`${keyId} ends at ${formatInstant(expiresAt)}\n`)
        await printIssued(issued, json, context)
        if (!isAccepted) stderr.write(OTHER_PEPPER)
      }),
    )
}

const OTHER_PEPPER =
  'warning: another pepper is recorded beside the keys, so the service will reject this key: set KEY_PEPPER as for the service, or use its DATA_DIR, and create the key again; ignore this after a deliberate change of the pepper\n'

function printIssued(
  { key, record }: MadeKey,
  json: boolean | undefined,
  context: CommandContext,
): Promise<void> {
  const nextStep = `the key was not printed, and no command can print it again: print another one in its place with "keys roll ${record.keyId} --overlap 0s"`
  if (!json) {
    context.stderr.write(`${record.keyId} for ${accountOf(record)}; the key is shown this once:\n`)
    return printSecret(`${key}\n`, nextStep, context)
  }
  const { key_id, account_id, test, scopes, expires_at } = toPublicRecord(
    record,
    record.createdAt,
    null,
  )
  const text = jsonText({ key, key_id, account_id, test, scopes, expires_at })
  return printSecret(text, nextStep, context)
}

const accountOf = ({ accountId, isTest }: KeyRecord) =>
  isTest ? `the sandbox of ${accountId}` : accountId

function toPublicRecord(record: KeyRecord, now: number, usedAt: number | null) {
  return {
    key_id: record.keyId,
    account_id: record.accountId,
    test: record.isTest,
    name: record.name,
    last_four: record.lastFour,
    scopes: record.scopes,
    state: inactiveReason(record, now) ?? 'active',
    created_at: formatInstant(record.createdAt),
    expires_at: formatInstantOrNull(record.expiresAt),
    revoked_at: formatInstantOrNull(record.revokedAt),
    last_valid_at: formatInstantOrNull(latestUse(record, usedAt)),
  }
}
