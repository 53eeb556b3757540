import { describe, expect, it } from 'vitest'
import { ownServicesTiers } from '../../harness/tiers.ts'
import { findMissingTools } from '../../harness/tools/tools.ts'

describe('the tools that a machine lacks', () => {
  it('a tier reports required tools that the path lacks', async () => {
    const lacking = await findMissingTools(ownServicesTiers.resilience.needs, { PATH: '' })
    expect(lacking).toEqual(expect.arrayContaining(['redis-server', 'maven']))
  })

  it('a tier does not report tools that it does not need', async () => {
    expect(ownServicesTiers.proxy.needs).toEqual(['haproxy'])
    expect(await findMissingTools([], { PATH: '' })).toEqual([])
  })
})
