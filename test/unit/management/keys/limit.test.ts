import { expect, it } from 'vitest'
import { CLI_ACTOR } from '../../../../src/management/audit/audit-entry.ts'
import { createKeyManagement } from '../../../../src/management/keys/key-management.ts'
import { ISSUED_AT as NOW, useKeyStore } from '../../../support/stores/memory-key-store.ts'

const test = useKeyStore()

const createManagement = () =>
  createKeyManagement({
    keys: test.keys,
    keyPepper: test.keyPepper,
    sessions: { removeOf: async () => {} },
    audit: { record: (_actor, _intent, change) => change() },
    clock: () => NOW,
  })

it('concurrent creations with a limit are counted one after another', async () => {
  const management = createManagement()
  const given = { accountId: 'acc_1', scopes: [], name: null, expires: null }
  const results = await Promise.allSettled(
    [1, 2, 3, 4].map(() => management.create(CLI_ACTOR, given, { atMost: 2 })),
  )
  const states = results.map(({ status }) => status)
  expect(states).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
})

it('concurrent rolls without an overlap of a key at the limit issue one successor', async () => {
  const { record: old } = await test.issue()
  const management = createManagement()
  const results = await Promise.allSettled(
    [1, 2].map(() => management.roll(CLI_ACTOR, { id: old.keyId }, 0, { atMost: 1 })),
  )
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})
