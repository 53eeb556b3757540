import { describe, expect, it } from 'vitest'
import { readOptions } from '../../../../scripts/fuzz/options.ts'
import { UsageError } from '../../../../scripts/usage.ts'

const newSeed = () => 42

describe('the options of the fuzzer', () => {
  it('the fuzzer runs all cases with a new seed by default', () => {
    expect(readOptions([], newSeed)).toEqual({ seconds: undefined, seed: 42 })
  })

  it('the fuzzer accepts a time limit and a seed', () => {
    const args = ['--seconds', '120', '--seed', '0']
    expect(readOptions(args, newSeed)).toEqual({ seconds: 120, seed: 0 })
  })

  it.each([
    [['--seconds', '29']],
    [['--seconds', '3601']],
    [['--seconds', '1e3']],
    [['--seconds', '']],
    [['--seed', '-1']],
    [['--seed', '2147483649']],
    [['--cases', '5']],
    [['120']],
  ])('the fuzzer rejects %j with its usage', (args) => {
    expect(() => readOptions(args, newSeed)).toThrow(UsageError)
  })
})
