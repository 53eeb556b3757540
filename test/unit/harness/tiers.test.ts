import { describe, expect, it } from 'vitest'
import {
  commandsFor,
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
    [
      ['--project=!r*', '--project=!c*', '--project=!b*', '--project=!p*e'],
      ['kafka', 'proxy'],
    ],
  ])('is selected or not by %j', (args, tiers) => {
    expect(selectedTiers(ownServicesTiers, args)).toEqual(tiers)
  })
})

describe('the tiers that npm test leaves to other commands', () => {
  const resilience = ['resilience', 'cluster', 'stress', 'proxy']
  const ecosystem = ['browser', 'package', 'recipes']
  const optional = [...resilience, ...ecosystem, 'containers']

  it.each([
    [[], optional],
    [['--project=!unit'], optional],
    [['--project', 'recipes'], []],
    [['--project=unit'], []],
    [['test/package/package.test.ts'], [...resilience, 'browser', 'recipes', 'containers']],
    [
      ['--with=package', '--with=browser', '--with=stress'],
      ['resilience', 'cluster', 'proxy', 'recipes', 'containers'],
    ],
  ])('a run with %j leaves out %j', (args, leftOut) => {
    expect(selectProjects(args).leftOut).toEqual(leftOut)
  })

  it('tiers that are left out are excluded, and vitest does not receive --with', () => {
    const withAllButOne = optional.filter((tier) => tier !== 'browser').map((it) => `--with=${it}`)
    expect(selectProjects(['--reporter=dot', ...withAllButOne]).args).toEqual([
      '--reporter=dot',
      '--project=!browser',
    ])
  })

  it('--with adds a tier to selected projects', () => {
    expect(selectProjects(['--project', 'unit', '--with=package'])).toEqual({
      args: ['--project', 'unit', '--project=package'],
      leftOut: [],
    })
  })

  it('an unknown tier in --with is reported with the known ones', () => {
    expect(() => selectProjects(['--with=unit'])).toThrow(
      '--with=unit names no tier. Use resilience, cluster, stress, proxy, browser, package, recipes, containers.',
    )
  })

  it('each tier that is left out is named with the command that runs it', () => {
    expect(commandsFor(['stress', 'browser', 'package'])).toEqual([
      'npm run test:resilience (stress)',
      'npm run test:ecosystem (browser, package)',
    ])
  })
})
