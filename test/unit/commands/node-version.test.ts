import { describe, expect, it } from 'vitest'
import { nodeIsTooOld } from '../../../src/commands/node-version.ts'

describe('the service', () => {
  it.each(['24.0.0', '24.21.0', '26.1.0'])('runs on Node %s', (version) => {
    expect(nodeIsTooOld(version)).toBeUndefined()
  })

  it.each(['20.20.2', '22.21.0'])('says what to do on Node %s', (version) => {
    expect(nodeIsTooOld(version)).toMatch(`Node 24 or later, and this is ${version}`)
  })
})
