import { describe, expect, it } from 'vitest'
import { ownServicesTiers, selectedTiers, servicesTiers } from '../../harness/tiers.ts'

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
