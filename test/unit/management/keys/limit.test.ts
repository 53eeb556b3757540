import { expect, it } from 'vitest'
import { CLI_ACTOR } from '../../../../src/management/audit/audit-entry.ts'
import { createKeyManagement } from '../../../../src/management/keys/key-management.ts'
import { ISSUED_AT as NOW, useKeyStore } from '../../../support/stores/memory-key-store.ts'

const test = useKeyStore()

it('concurrent creations with a limit are counted one after another', async () => {
  const management = createKeyManagement({
    keys: test.keys,
    keyPepper: test.keyPepper,
    sessions: { removeOf: async () => {} },
    audit: { record: (_actor, _intent, change) => change() },
    clock: () => NOW,
  })
  const given = { accountId: 'acc_1', scopes: [], name: null, expires: null }
  const results = await Promise.allSettled(
    [1, 2, 3, 4].map(() => management.create(CLI_ACTOR, given, { atMost: 2 })),
  )
  const states = results.map(({ status }) => status)
  expect(states).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
})
