import { expect, it } from 'vitest'
import { findForChange } from '../../../../src/webhooks/management/endpoint-target.ts'
import { NOW, useManagement, withCode } from './management.ts'

const test = useManagement()

/** The store, but its first read shows a deletion that is lost with the node that showed it. */
function withLostDeletion() {
  const { update, find } = test.services.webhooks.endpoints
  const updated: string[] = []
  return {
    updated,
    async find(id: string) {
      const endpoint = await find(id)
      return endpoint && { ...endpoint, deletedAt: NOW }
    },
    update(...[id, change]: Parameters<typeof update>) {
      updated.push(id)
      return update(id, change)
    },
  }
}

it('a change finds an endpoint whose deletion was lost since it was read', async () => {
  const endpoint = await test.endpoint()
  expect(await findForChange(withLostDeletion(), { id: endpoint.id })).toEqual(endpoint)
})

it('a change writes no deleted endpoint of another account', async () => {
  const { id } = await test.endpoint()
  const endpoints = withLostDeletion()
  const finding = findForChange(endpoints, { id, accountId: 'acc_2' })
  await expect(finding).rejects.toEqual(withCode('endpoint_missing'))
  expect(endpoints.updated).toEqual([])
})
