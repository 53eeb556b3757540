import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, CLI_ACTOR } from '../../../src/management/audit/audit-entry.ts'
import { createAuditLog } from '../../../src/management/audit/audit-log.ts'
import {
  createKeyManagement,
  type KeyManagement,
} from '../../../src/management/keys/key-management.ts'
import { type StoresUnderTest, useStores } from '../stores-under-test.ts'

const PEPPER = Buffer.alloc(32, 7)
const ACTOR: Actor = { name: 'token:plataforma', requestId: 'req_1' }
const GRANT = { scopes: ['orders:read'], name: null, expires: null }

type Method = (...args: unknown[]) => Promise<unknown>
type Methods = Record<string, Method>
type Stop = 'before' | 'after'

/** A process that stops at its nth write: the call never returns, and no later one runs. */
function createStoppingProcess(nth: number, stop: Stop) {
  const stopped = Promise.withResolvers<'stopped'>()
  const never = new Promise<never>(() => {})
  let calls = 0
  function stopAt<T extends object>(store: T, writes: readonly (keyof T & string)[]): T {
    const methods = store as unknown as Methods
    const wrapped = writes.map((name) => {
      const method: Method = async (...args) => {
        calls += 1
        if (calls > nth) return never
        if (calls < nth) return methods[name]?.(...args)
        if (stop === 'after') await methods[name]?.(...args)
        stopped.resolve('stopped')
        return never
      }
      return [name, method]
    })
    return { ...store, ...Object.fromEntries(wrapped) }
  }
  return { stopAt, stopped: stopped.promise }
}

/** An account and its key. */
interface Subject {
  accountId: string
  id: string
}

const changes: [
  name: string,
  writes: number,
  change: (keys: KeyManagement, subject: Subject) => Promise<unknown>,
][] = [
  ['create a key', 3, (keys, { accountId }) => keys.create(ACTOR, { accountId, ...GRANT })],
  ['roll a key', 4, (keys, { id }) => keys.roll(ACTOR, { id }, 3_600_000)],
  ['revoke a key', 3, (keys, { id }) => keys.revoke(ACTOR, { id })],
  ['block an account', 4, (keys, { accountId }) => keys.setAccountBlocked(ACTOR, accountId, true)],
]

/** Every write of each change, before and after it. */
const stops = changes.flatMap(([name, writes, change]) =>
  Array.from({ length: writes }, (_, at) => at + 1).flatMap((nth) =>
    (['before', 'after'] as const).map((stop) => ({ name, writes, change, nth, stop })),
  ),
)

describe.each(useStores())('a process that stops during a change on %s', (_name, open) => {
  let stores: StoresUnderTest
  let accounts = 0
  let subject: Subject
  beforeAll(async () => {
    stores = await open()
  })
  beforeEach(async () => {
    accounts += 1
    const accountId = `acc_${accounts}`
    const { record } = await management().create(CLI_ACTOR, { accountId, ...GRANT })
    subject = { accountId, id: record.keyId }
  })
  afterAll(() => stores.close())

  function management(process?: ReturnType<typeof createStoppingProcess>): KeyManagement {
    const { audit: auditStore } = stores.managementStores
    const audit = process?.stopAt(auditStore, ['insert', 'setOutcome']) ?? auditStore
    const writes = ['insert', 'update', 'expire', 'setAccountBlocked'] as const
    const keys = process?.stopAt(stores.keys, writes) ?? stores.keys
    const { sessions: own } = stores.managementStores
    const sessions = process?.stopAt(own, ['removeOf']) ?? own
    const log = createAuditLog(audit, Date.now)
    return createKeyManagement({ keys, keyPepper: PEPPER, sessions, audit: log, clock: Date.now })
  }

  /** Everything that a change can change. */
  async function state() {
    await stores.refresh()
    const keys = await stores.keys.list(subject.accountId)
    const found = await stores.keys.find(keys[0]?.digest ?? '')
    return { keys, isBlocked: found?.accountBlocked }
  }
  async function entries() {
    const { accountId } = subject
    const all = await stores.managementStores.audit.list({ accountId, limit: 100, after: null })
    return all.filter(({ actor }) => actor === ACTOR.name)
  }

  it.each(stops)(
    'to $name, $stop write $nth of $writes, leaves an entry or no change',
    async ({ change, nth, stop, writes }) => {
      const before = await state()
      const stopping = createStoppingProcess(nth, stop)
      const ended = change(management(stopping), subject).then(() => 'ended')
      expect(await Promise.race([ended, stopping.stopped])).toBe('stopped')

      const hasEntry = nth > 1 || stop === 'after'
      const hasOutcome = nth === writes && stop === 'after'
      const outcomes = (await entries()).map(({ outcome }) => outcome)
      expect(outcomes).toEqual(hasEntry ? [hasOutcome ? 'done' : 'unknown'] : [])
      const isUnchanged = nth < 2 || (nth === 2 && stop === 'before')
      if (isUnchanged) expect(await state()).toEqual(before)
      else expect(await state()).not.toEqual(before)
    },
  )

  it.each(changes)(
    'that does not stop to %s leaves one entry',
    async (_change, _writes, change) => {
      await change(management(), subject)
      expect((await entries()).map(({ outcome }) => outcome)).toEqual(['done'])
    },
  )
})
