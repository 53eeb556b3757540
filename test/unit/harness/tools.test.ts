import { describe, expect, it } from 'vitest'
import { ownServicesTiers } from '../../harness/tiers.ts'
import { findMissingTools } from '../../harness/tools/tools.ts'

describe('the tools that a machine lacks', () => {
  it('are those that a tier needs and the path does not have', async () => {
    const lacking = await findMissingTools(ownServicesTiers.resilience.needs, { PATH: '' })
    expect(lacking).toEqual(expect.arrayContaining(['redis-server', 'maven']))
  })

  it('are none that the tier does not need', async () => {
    expect(ownServicesTiers.proxy.needs).toEqual(['haproxy'])
    expect(await findMissingTools([], { PATH: '' })).toEqual([])
  })
})
