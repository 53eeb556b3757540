import type { BenchContext } from '../context.ts'
import { createGenerator, type Generator, type LoadRequest } from '../measuring/generator.ts'
import type { Heat } from '../measuring/race.ts'

/** How many requests are under way, over how many connections to a node. */
const AT_A_TIME = [8, 64]
const SOCKETS = [2, 4, 8, 16, 64]

/** Fewer connections than requests make some wait for others; more would never be used. */
export function socketPlans(): { atATime: number; sockets: number }[] {
  return AT_A_TIME.flatMap((atATime) =>
    SOCKETS.filter((sockets) => sockets <= atATime).map((sockets) => ({ atATime, sockets })),
  )
}

/** The same searches over more and fewer connections. */
export function socketHeats({ openSearch }: BenchContext, requests: readonly LoadRequest[]) {
  const generators: Generator[] = []
  const heats: Heat[] = [...Map.groupBy(socketPlans(), ({ atATime }) => atATime)].map(
    ([atATime, plans]) => {
      const sides = plans.map(({ sockets }) => {
        const generator = createGenerator(openSearch, atATime, sockets)
        generators.push(generator)
        return { name: `${sockets}`, generator, requests }
      })
      return { name: `${atATime} at a time`, sides }
    },
  )
  const close = async () => {
    await Promise.all(generators.map((generator) => generator.close()))
  }
  return { heats, close }
}
