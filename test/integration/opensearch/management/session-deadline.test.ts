import { expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { createOpenSearchManagementStores } from '../../../../src/stores/opensearch/management/management-stores.ts'
import {
  GENEROUS_MS,
  names,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import { stall } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

it('the read of a session fails by the deadline of a read by id, since a page waits for it', async () => {
  const { client } = connect([(await serve(stall)).url])
  const { sessions } = createOpenSearchManagementStores({
    client,
    names,
    ensureIndices: { management: async () => {} },
    deadlineMs: GENEROUS_MS,
    sessionDeadlineMs: SHORT_MS,
  })
  const error = await thrownBy(sessions.find('digest'))
  expect(error).toBeInstanceOf(Unavailable)
  expect(`${error}`).toContain(`${SHORT_MS} ms`)
})
