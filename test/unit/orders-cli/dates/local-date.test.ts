import { describe, expect, it } from 'vitest'
import { resolveDates } from '../../../../src/orders-cli/dates/date-options.ts'
import { parseLocalDate } from '../../../../src/orders-cli/dates/local-date.ts'

describe('a date', () => {
  it.each([
    ['01/03/2026', '2026-03-01T00:00:00-03:00'],
    ['1/3/2026', '2026-03-01T00:00:00-03:00'],
    ['29/02/2024', '2024-02-29T00:00:00-03:00'],
    ['15/01/2019', '2019-01-15T00:00:00-02:00'],
    // The first day of daylight saving time had no midnight, and the first day after it had one.
    ['04/11/2018', '2018-11-04T00:00:00-03:00'],
    ['17/02/2019', '2019-02-17T00:00:00-03:00'],
  ])('the date %s starts at %s', (text, instant) => {
    expect(parseLocalDate(text)).toEqual({ instant })
  })

  it.each(['31/02/2026', '29/02/2026', '03/25/2026', '01/03/26', '01/03', '00/01/2026'])(
    'the date %s does not exist',
    (text) => {
      expect(parseLocalDate(text)).toBe('invalid')
    },
  )

  it.each(['2026-03-01T00:00:00Z', '2026-03-01', '', 'ontem', '01/03/2026 10:00'])(
    'the text %j is left to the API',
    (text) => {
      expect(parseLocalDate(text)).toBeNull()
    },
  )
})

describe('the date options of a command', () => {
  it('the date options of a command are replaced, and printed with their time zone', () => {
    const printed: string[] = []
    const text = {
      'created-gte': '01/03/2026',
      'created-lt': '2026-04-01T00:00:00Z',
      out: '1/1/2026',
    }
    expect(resolveDates(text, (line) => printed.push(line))).toEqual({
      ...text,
      'created-gte': '2026-03-01T00:00:00-03:00',
    })
    expect(printed).toEqual([
      '--created-gte 01/03/2026: 2026-03-01T00:00:00-03:00, o início do dia no horário de Brasília',
    ])
  })

  it('the date options of a command reject a date that does not exist', () => {
    expect(() => resolveDates({ since: '31/02/2026' }, () => {})).toThrow(
      '--since: "31/02/2026" não é uma data. Escreva dia/mês/ano, como 01/03/2026.',
    )
  })

  it('a filter with an ISO date is rejected with the form of the date to write', () => {
    expect(() => resolveDates({ 'created-gte': '2026-03-01' }, () => {})).toThrow(
      '--created-gte: Faltam a hora e o fuso em "2026-03-01". Para o início do dia em Brasília, escreva 01/03/2026.',
    )
    expect(resolveDates({ out: '2026-03-01' }, () => {})).toEqual({ out: '2026-03-01' })
  })

  it.each(['2026-02-31', '2026-13-01'])(
    'a filter with the ISO date %s, which does not exist, is no date',
    (date) => {
      expect(() => resolveDates({ 'created-gte': date }, () => {})).toThrow(
        `--created-gte: "${date}" não é uma data. Escreva dia/mês/ano, como 01/03/2026.`,
      )
    },
  )
})
