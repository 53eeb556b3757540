import { describe, expect, it } from 'vitest'
import { areFree, findFreePort, listenOn } from '../../harness/processes/ports.ts'

const freePort = () => findFreePort(() => true)
const REDIS_BUS_OFFSET = 10_000

describe('findFreePort', () => {
  it('finds another port each time, and none that the system gives out by itself', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, freePort))
    expect(new Set(ports).size).toBe(20)
    expect(Math.max(...ports)).toBeLessThan(32_768 - REDIS_BUS_OFFSET)
  })

  it('does not find a port that is in use', async () => {
    const used = (await freePort()) + 1 // Which the next search would try first.
    await using _listening = await listenOn([used])
    expect(await freePort()).not.toBe(used)
  })
})

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
