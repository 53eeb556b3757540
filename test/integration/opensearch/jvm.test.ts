import { expect, it } from 'vitest'
import { opensearch } from '../../support/stores/backend.ts'

const COMPILER = '-XX:TieredStopAtLevel='

interface Nodes {
  nodes: Record<string, { jvm: { input_arguments: string[] } }>
}

// Without it, a whole run takes a third more CPU time, and no other test fails.
it('every node of the run has the optimizing compiler of its JVM', async () => {
  const { nodes } = await opensearch<Nodes>('GET', '_nodes/jvm')
  const levels = Object.values(nodes).map(({ jvm }) => {
    return jvm.input_arguments.findLast((one) => one.startsWith(COMPILER)) ?? 'the default'
  })
  expect(levels).not.toHaveLength(0)
  expect(levels).not.toContain(`${COMPILER}1`)
})
