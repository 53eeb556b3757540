import { describe, expect, it } from 'vitest'
import { parseArguments, refuseWords } from '../../../src/orders-command/arguments.ts'
import { UsageFault } from '../../../src/orders-command/faults.ts'

const table = { url: 'text', status: 'list', resume: 'flag' } as const
const parse = (...args: string[]) => parseArguments('export', args, table)

describe('a command line', () => {
  it('has options in both forms, flags and words', () => {
    const { text, flags, words } = parse('a', '--url=x', '--status', 'PAID', '--resume', 'b')
    expect(text).toEqual({ url: 'x', status: 'PAID' })
    expect([...flags]).toEqual(['resume'])
    expect(words).toEqual(['a', 'b'])
  })

  it('joins the values of a list that comes several times', () => {
    expect(parse('--status', 'PAID,UNPAID', '--status', 'TRIAL').text.status).toBe(
      'PAID,UNPAID,TRIAL',
    )
  })

  it('takes what begins with a hyphen after =, and after --', () => {
    expect(parse('--url=-x').text.url).toBe('-x')
    expect(parse('--', '--url').words).toEqual(['--url'])
  })

  it.each([
    ['an option that does not exist', ['--colour', 'x'], 'Não existe a opção --colour.'],
    ['one of every object', ['--constructor'], 'Não existe a opção --constructor.'],
    ['a short option', ['-x'], 'Não existe a opção -x.'],
    ['a value that is missing', ['--url'], 'Falta o valor da opção --url.'],
    ['a value that is another option', ['--url', '--resume'], 'Falta o valor da opção --url.'],
    [
      'an empty value, as of a variable that is not set',
      ['--status='],
      'Falta o valor da opção --status.',
    ],
    [
      'an option that comes twice',
      ['--url', 'a', '--url', 'b'],
      'A opção --url veio mais de uma vez.',
    ],
    ['a flag with a value', ['--resume=yes'], 'A opção --resume não leva valor.'],
  ])('refuses %s', (_what, args, message) => {
    expect(() => parse(...args)).toThrow(new UsageFault(message, 'export'))
  })

  it('refuses words that are too many', () => {
    expect(() => refuseWords('export', ['x'])).toThrow('Sobrou "x" na linha de comando.')
  })
})

describe('a key on the command line is refused, and not repeated', () => {
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
  ])('%s', (args) => {
    const refusal = () => parse(...args)
    expect(refusal).toThrow(/A chave não vai na linha de comando/)
    expect(refusal).not.toThrow(/secret/)
  })
})
