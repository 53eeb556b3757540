import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const config = readFileSync(new URL('../../../docker/edge/haproxy.cfg', import.meta.url), 'utf8')
const [head = '', body = ''] = config.split('\nglobal\n')
const documented = new Map(
  [...head.matchAll(/^# (EDGE_[A-Z_0-9]+)(?:=(\S+))?/gm)].map(([, name = '', value]) => [
    name,
    value,
  ]),
)
const defaults = [...body.matchAll(/^ {4}presetenv (\S+) (\S+)$/gm)].map(
  ([, name = '', value = '']) => ({ name, value }),
)
const used = [...new Set([...body.matchAll(/\bEDGE_[A-Z_0-9]+/g)].map(([name]) => name))]
/** The head tells of the first process, and that the others are called alike. */
const ofTheFirst = (name: string) => name.replace(/_[234]/, '_1')

describe("the head of the edge's configuration", () => {
  it.each(used)('documents %s', (name) => {
    expect([...documented.keys()]).toContain(ofTheFirst(name))
  })

  it.each(defaults)('tells the default of $name, which is $value', ({ name, value }) => {
    expect(documented.get(ofTheFirst(name))).toBe(value)
  })

  it('tells no default that there is not', () => {
    const names = new Set(defaults.map(({ name }) => ofTheFirst(name)))
    for (const [name, value] of documented) expect(names.has(name), name).toBe(value !== undefined)
  })
})

it('the edge counts as the contract says: 15,000 requests in 5 minutes', () => {
  expect(documented.get('EDGE_VOLUME_REQUESTS')).toBe('15000')
  expect(documented.get('EDGE_VOLUME_SECONDS')).toBe('300')
})
