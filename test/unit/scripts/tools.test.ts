import { describe, expect, it } from 'vitest'
import { ownServicesTiers } from '../../../scripts/services/tiers.ts'
import { findMissingTools } from '../../../scripts/services/tools.ts'

describe('the tools that a machine lacks', () => {
  it('are those that a tier needs and the path does not have', async () => {
    const lacking = await findMissingTools(ownServicesTiers.faults.needs, { PATH: '' })
    expect(lacking).toEqual(expect.arrayContaining(['redis-server', 'maven']))
  })

  it('are none that the tier does not need', async () => {
    expect(ownServicesTiers.edge.needs).toEqual(['haproxy'])
    expect(await findMissingTools([], { PATH: '' })).toEqual([])
  })
})
