import { describe, expect, it } from 'vitest'
import { differingPaths } from '../../../../src/indexing/consistency-check/differing-paths.ts'

describe('the differing paths of two values', () => {
  it.each<[name: string, one: unknown, other: unknown, paths: string[]]>([
    ['nowhere, whatever the sequence of keys', { a: 1, b: [2] }, { b: [2], a: 1 }, []],
    [
      'at the deepest place',
      { a: { b: [1, { c: 2 }] } },
      { a: { b: [1, { c: 3 }] } },
      ['/a/b/1/c'],
    ],
    ['at every place', { a: 1, b: 2, c: 3 }, { a: 0, b: 2, c: 0 }, ['/a', '/c']],
    ['where one value has no key', { a: 1 }, { b: null }, ['/a', '/b']],
    ['where one list is shorter', { a: [1, 2] }, { a: [1] }, ['/a/1']],
    ['where their types differ', { a: [1] }, { a: { 0: 1 } }, ['/a']],
    ['where one value is null', { a: null }, { a: { b: 1 } }, ['/a']],
    ['as a whole', 1, 2, ['']],
  ])('values differ %s', (_name, one, other, paths) => {
    expect(differingPaths(one, other)).toEqual(paths)
  })

  it('the differing paths mask unusual keys, since they may be personal data', () => {
    const paths = differingPaths(
      { tracking: { 'ana@exemplo.com.br': '1', src: '2' } },
      { tracking: {} },
    )
    expect(paths).toEqual(['/tracking/*', '/tracking/src'])
  })

  it('the differing paths include a key that every object inherits', () => {
    const one = JSON.parse('{"constructor": "x", "__proto__": {"a": 1}}')
    const other = JSON.parse('{"__proto__": {"a": 2}}')
    expect(differingPaths(one, other)).toEqual(['/constructor', '/__proto__/a'])
    expect(differingPaths(other, {})).toEqual(['/__proto__'])
  })

  it('the differing paths are limited to the first twenty', () => {
    const one = Array.from({ length: 50 }, (_, n) => n)
    expect(
      differingPaths(
        one,
        one.map((n) => -1 - n),
      ),
    ).toHaveLength(20)
  })
})
