import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const config = readFileSync(new URL('../../../docker/edge/haproxy.cfg', import.meta.url), 'utf8')
const [comments = '', body = ''] = config.split('\nglobal\n')
const documented = new Map(
  [...comments.matchAll(/^# (EDGE_[A-Z_0-9]+)(?:=(\S+))?/gm)].map(([, name = '', value]) => [
    name,
    value,
  ]),
)
const defaults = [...body.matchAll(/^ {4}presetenv (\S+) (\S+)$/gm)].map(
  ([, name = '', value = '']) => ({ name, value }),
)
const used = [...new Set([...body.matchAll(/\bEDGE_[A-Z_0-9]+/g)].map(([name]) => name))]
/** The comments document the first process; the names of the others differ in the number. */
const ofTheFirst = (name: string) => name.replace(/_[234]/, '_1')

describe('the comments at the top of the edge configuration', () => {
  it.each(used)('the edge configuration documents %s', (name) => {
    expect([...documented.keys()]).toContain(ofTheFirst(name))
  })

  it.each(defaults)(
    'the edge configuration documents the default of $name, which is $value',
    ({ name, value }) => {
      expect(documented.get(ofTheFirst(name))).toBe(value)
    },
  )

  it('the edge configuration documents no default that does not exist', () => {
    const names = new Set(defaults.map(({ name }) => ofTheFirst(name)))
    for (const [name, value] of documented) expect(names.has(name), name).toBe(value !== undefined)
  })
})

it('the edge limits a client to 15,000 requests in 5 minutes', () => {
  expect(documented.get('EDGE_VOLUME_REQUESTS')).toBe('15000')
  expect(documented.get('EDGE_VOLUME_SECONDS')).toBe('300')
})

it('the edge limits a client to 800 open connections, a tenth of all', () => {
  expect(documented.get('EDGE_CONNECTIONS_PER_ADDRESS')).toBe('800')
  expect(documented.get('EDGE_MAX_CONNECTIONS')).toBe('8000')
})

it('the edge knows no management port', () => {
  expect(config).not.toMatch(/management/i)
})
