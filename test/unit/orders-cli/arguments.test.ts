import { describe, expect, it } from 'vitest'
import { parseArguments, rejectExtraArgs } from '../../../src/orders-cli/arguments.ts'
import { CommandLineError } from '../../../src/orders-cli/errors.ts'

const table = { url: 'text', status: 'list', resume: 'flag' } as const
const parse = (...args: string[]) => parseArguments(args, table)

describe('a command line', () => {
  it('accepts options in both forms, flags and positional arguments', () => {
    const { text, flags, words } = parse('a', '--url=x', '--status', 'PAID', '--resume', 'b')
    expect(text).toEqual({ url: 'x', status: 'PAID' })
    expect([...flags]).toEqual(['resume'])
    expect(words).toEqual(['a', 'b'])
  })

  it('joins the values of a repeated list option', () => {
    expect(parse('--status', 'PAID,UNPAID', '--status', 'TRIAL').text.status).toBe(
      'PAID,UNPAID,TRIAL',
    )
  })

  it('accepts a leading hyphen after = and after --', () => {
    expect(parse('--url=-x').text.url).toBe('-x')
    expect(parse('--', '--url').words).toEqual(['--url'])
  })

  it.each([
    ['an option that does not exist', ['--colour', 'x'], 'Não existe a opção --colour.'],
    [
      'a property that every object inherits',
      ['--constructor'],
      'Não existe a opção --constructor.',
    ],
    ['a short option', ['-x'], 'Não existe a opção -x.'],
    ['a missing value', ['--url'], 'Falta o valor da opção --url.'],
    ['an option as a value', ['--url', '--resume'], 'Falta o valor da opção --url.'],
    [
      'an empty value, as from an unset variable',
      ['--status='],
      'Falta o valor da opção --status.',
    ],
    ['a repeated option', ['--url', 'a', '--url', 'b'], 'A opção --url veio mais de uma vez.'],
    ['a flag with a value', ['--resume=yes'], 'A opção --resume não leva valor.'],
  ])('rejects %s', (_what, args, message) => {
    expect(() => parse(...args)).toThrow(new CommandLineError(message))
  })

  it('rejects extra arguments', () => {
    expect(() => rejectExtraArgs(['x'])).toThrow('Sobrou "x" na linha de comando.')
  })
})

describe('a key on the command line', () => {
  it.each([
    [['--key', 'secret']],
    [['--api-key', 'secret']],
    [['--api-key=secret']],
    [['--apikey=secret']],
    [['--orders-api-key', 'secret']],
    [['--token', 'secret']],
    [['--chave', 'secret']],
    [['-k', 'secret']],
    [['key_live_secret']],
    [['--url', 'https://x?key=key_live_secret']],
  ])('the key in "%s" is rejected and not repeated', (args) => {
    const parsing = () => parse(...args)
    expect(parsing).toThrow(/A chave não vai na linha de comando/)
    expect(parsing).not.toThrow(/secret/)
  })
})
