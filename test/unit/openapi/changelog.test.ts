import { describe, expect, it } from 'vitest'
import { readGuide } from '../../../scripts/openapi/guide.ts'
import {
  type ChangelogEntry,
  deprecationsIn,
  MONTHS_UNTIL_SUNSET,
  parseChangelog,
} from '../../../src/openapi/changelog.ts'
import { buildOpenApiDocument } from '../../../src/openapi/document.ts'
import { readChangelog } from '../../../src/openapi/openapi-files.ts'

const added = { id: 'um', date: '2026-11-22', kind: 'added', title: 'Um', text: 'Algo novo.' }
const deprecated = {
  id: 'lista',
  date: '2027-01-01',
  kind: 'deprecated',
  title: 'A lista',
  text: 'Use /v2/orders.',
  operations: ['orders_list'],
  since: '2027-01-01T00:00:00Z',
  sunset: '2028-01-01T00:00:00Z',
} satisfies ChangelogEntry

const parse = (...changes: object[]) => parseChangelog(JSON.stringify(changes))

describe('the committed changes', () => {
  it('the committed changes follow the rules', () => {
    expect(readChangelog().length).toBeGreaterThan(0)
  })
})

describe('a list of changes', () => {
  it('a list of changes is accepted when it follows the rules', () => {
    expect(parse(deprecated, added)).toEqual([deprecated, added])
  })

  it.each([
    ['another kind', { ...added, kind: 'removed' }, /kind|union/i],
    ['a missing text', { ...added, text: undefined }, /text|union/i],
    ['an unknown field', { ...added, author: 'x' }, /union|author/i],
    ['an id with a space', { ...added, id: 'um dois' }, /union|pattern/i],
    ['an impossible date', { ...added, date: '2026-02-30' }, /um: date is not a valid day/],
    ['an unknown operation', { ...deprecated, operations: ['orders_drop'] }, /union/i],
    ['a field without its schema', { ...deprecated, fields: ['promocode'] }, /union/i],
    ['no operation', { ...deprecated, operations: [] }, /union/i],
    [
      'an impossible sunset',
      { ...deprecated, sunset: '2028-13-01T00:00:00Z' },
      /not a valid instant/,
    ],
    [
      'a sunset a second too early',
      { ...deprecated, sunset: '2027-12-31T23:59:59Z' },
      /at least 12 months after since/,
    ],
  ])('a list of changes is rejected with %s', (_what, change, message) => {
    expect(() => parse(change)).toThrow(message)
  })

  it('a list of changes is rejected when an older entry is first', () => {
    expect(() => parse(added, deprecated)).toThrow(/lista: must precede older entries/)
  })

  it('a list of changes is rejected when two entries share an id', () => {
    expect(() => parse(added, added)).toThrow(/share an id/)
  })
})

describe('a deprecation', () => {
  const changes = parse(deprecated, added)
  const samples = { orders_list: [], orders_get: [], account_get: [] }
  const { paths } = buildOpenApiDocument({ samples, changelog: changes })

  it('a deprecation is listed by deprecationsIn', () => {
    expect(deprecationsIn(changes)).toEqual([deprecated])
  })

  it('marks its operation in the description, and no other', () => {
    expect(paths['/v1/orders'].get).toHaveProperty('deprecated', true)
    expect(paths['/v1/orders/{id}'].get).not.toHaveProperty('deprecated')
  })

  it('a deprecation is documented by its operation, and its headers by every response', () => {
    const { description, responses } = paths['/v1/orders'].get
    expect(description).toContain(deprecated.text)
    for (const { headers } of Object.values(responses)) {
      expect(headers).toMatchObject({
        Deprecation: { schema: { const: '@1798761600' } },
        Sunset: { schema: { const: 'Sat, 01 Jan 2028 00:00:00 GMT' } },
      })
    }
  })

  it('a deprecation is listed in the guide, with its dates', () => {
    const guide = readGuide(changes)
    expect(guide).toContain('A lista')
    expect(guide).toContain(deprecated.since)
    expect(guide).toContain(deprecated.sunset)
  })

  it('lasts as long as the guide promises', () => {
    expect(readGuide([])).toContain(`pelo menos ${MONTHS_UNTIL_SUNSET} meses depois`)
  })
})

describe('a deprecation of a field', () => {
  const describedWith = (fields: string[]) => {
    const changes = parse({ ...deprecated, fields })
    const samples = { orders_list: [], orders_get: [], account_get: [] }
    return buildOpenApiDocument({ samples, changelog: changes })
  }

  it.each(['promocode', 'currency'])(
    'marks %s in the description, and not its operation',
    (name) => {
      const { paths, components } = describedWith([`Order.${name}`])
      expect(components.schemas['Order']).toHaveProperty(`properties.${name}`, {
        ...(components.schemas['Order'] as { properties: Record<string, object> }).properties[name],
        deprecated: true,
        description: expect.stringContaining(deprecated.text),
      })
      expect(paths['/v1/orders'].get).not.toHaveProperty('deprecated')
      expect(paths['/v1/orders'].get.responses[200].headers).toHaveProperty('Sunset')
    },
  )

  it('a deprecation of a field is rejected for a field that does not exist', () => {
    expect(() => describedWith(['Order.nada'])).toThrow(/lista: field Order.nada does not exist/)
  })
})
