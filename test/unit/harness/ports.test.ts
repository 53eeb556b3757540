import { describe, expect, it } from 'vitest'
import { areFree, findFreePort, listenOn } from '../../harness/processes/ports.ts'

const freePort = () => findFreePort(() => true)

describe('listenOn', () => {
  it('keeps ports from another search until the disposal', async () => {
    const ports = [await freePort(), await freePort()]
    {
      await using listening = await listenOn(ports)
      expect(listening).toBeDefined()
      expect(await listenOn(ports)).toBeUndefined()
    }
    expect(await areFree(ports)).toBe(true)
  })

  it('listens on none of the ports when one is in use', async () => {
    const [free, used] = [await freePort(), await freePort()]
    await using listening = await listenOn([used])
    expect(listening).toBeDefined()

    expect(await listenOn([free, used])).toBeUndefined()
    expect(await areFree([free])).toBe(true)
  })
})
