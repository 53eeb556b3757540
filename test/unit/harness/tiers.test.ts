import { describe, expect, it } from 'vitest'
import {
  ownServicesTiers,
  selectedTiers,
  selectProjects,
  servicesTiers,
} from '../../harness/tiers.ts'

const all = Object.keys(servicesTiers)

describe('the tiers on services that are selected', () => {
  it.each([
    [[], all],
    [['--reporter=default', 'test/http/rate-limit.test.ts'], all],
    [['--project', 'unit'], []],
    [['--project=unit', '--project=contract'], []],
    [['--project', 'unit', '--project', 'integration'], ['integration']],
    [['--project=contract*'], ['contract-services']],
    [['--project=HTTP-services'], ['http-services']],
    [
      ['--project=*-services', '--project=!contract-*'],
      ['http-services', 'cli-services'],
    ],
    [['--project', '!integration'], all.filter((name) => name !== 'integration')],
  ])('by %j', (args, tiers) => {
    expect(selectedTiers(servicesTiers, args)).toEqual(tiers)
  })
})

describe('the tiers on services of their own', () => {
  it.each([
    [[], Object.keys(ownServicesTiers)],
    [['--project=resilience'], ['resilience']],
    [['--project=*-services'], []],
    [['--project=!r*', '--project=!browser', '--project=!package'], ['proxy']],
  ])('is selected or not by %j', (args, tiers) => {
    expect(selectedTiers(ownServicesTiers, args)).toEqual(tiers)
  })
})

describe('the tiers of integrators', () => {
  const ecosystem = ['browser', 'package', 'recipes']

  it.each([
    [[], ecosystem],
    [['--project=!rush'], ecosystem],
    [['--project', 'recipes'], []],
    [['--project=unit'], []],
    [['test/package/package.test.ts'], ['browser', 'recipes']],
    [['--with=package', '--with=browser'], ['recipes']],
  ])('of a run with %j leave out %j', (args, leftOut) => {
    expect(selectProjects(args).leftOut).toEqual(leftOut)
  })

  it('unselected ecosystem tiers are excluded, and vitest does not receive --with', () => {
    expect(selectProjects(['--reporter=dot', '--with=package', '--with=recipes']).args).toEqual([
      '--reporter=dot',
      '--project=!browser',
    ])
  })

  it('an unknown tier in --with is reported with the known ones', () => {
    expect(() => selectProjects(['--with=unit'])).toThrow(
      '--with=unit names no tier. Use browser, package, recipes.',
    )
  })
})
