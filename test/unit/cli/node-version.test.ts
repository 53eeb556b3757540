import { describe, expect, it } from 'vitest'
import { unsupportedNodeMessage } from '../../../src/cli/node-version.ts'

describe('the service', () => {
  it.each(['24.0.0', '24.21.0', '26.1.0'])('the service runs on Node %s', (version) => {
    expect(unsupportedNodeMessage(version)).toBeUndefined()
  })

  it.each(['20.20.2', '22.21.0'])(
    'the service reports the required version on Node %s',
    (version) => {
      expect(unsupportedNodeMessage(version)).toMatch(`Node 24 or later, and this is ${version}`)
    },
  )
})
