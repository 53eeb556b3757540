import { describe, expect, it } from 'vitest'
import { parseQueryInstant } from '../../../../src/orders/filters/query-instant.ts'

describe('parseQueryInstant', () => {
  it.each([
    ['2026-03-01T12:00:00-03:00', '2026-03-01T15:00:00.000Z'],
    ['2026-03-01T12:00:00-0300', '2026-03-01T15:00:00.000Z'],
    ['2026-03-01T12:00:00+0530', '2026-03-01T06:30:00.000Z'],
    ['2026-03-01T12:00:00.25-0300', '2026-03-01T15:00:00.250Z'],
    ['2026-03-01T12:00:00-03', '2026-03-01T15:00:00.000Z'],
    ['2026-03-01T12:00:00+00', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01t12:00z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00-03:00', '2026-03-01T15:00:00.000Z'],
    ['2026-03-01T12:00-0300', '2026-03-01T15:00:00.000Z'],
    ['2026-03-01T12:00-03', '2026-03-01T15:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    const atMs = Date.parse(instant)
    expect(parseQueryInstant(text)).toEqual({ floorMs: atMs, ceilMs: atMs })
  })

  it.each([
    ['2026-03-01', 'Faltam a hora e o fuso'],
    ['2026-03-01T12:00', 'Falta o fuso'],
    ['2026-03-01T12:00:00', 'Falta o fuso'],
    ['2026-03-01 12:00:00-03:00', 'Falta o T'],
    ['2026-03-01T12Z', 'Faltam os minutos'],
    ['2026-03-01T12-03:00', 'Faltam os minutos'],
    ['2026-03-01T12:00:00 0300', '%2B'],
    ['2026-03-01T12:00 03', '%2B'],
    ['2026-03-01T12:00:00-24', 'não existe'],
    ['2026-03-01T12:00:00-0360', 'não existe'],
    ['2026-03-01T12:60Z', 'não existe'],
    ['20260301T120000Z', 'Faltam os hifens'],
    ['01/03/2026', 'começa pelo ano'],
    ['2026', 'Faltam o mês, o dia, a hora e o fuso'],
    ['2026-03', 'Faltam o dia, a hora e o fuso'],
    ['-2026', 'número de segundos'],
    ['1772366400', 'número de segundos'],
    ['2026-03-01T12:00.5Z', 'hh:mm:ss'],
    ['2026-03-01T12:00:00-3', 'hh:mm:ss'],
    ['2026-03-01T12:00:00-030', 'hh:mm:ss'],
    ['2026-03-01T12:00:00-03:0', 'hh:mm:ss'],
    ['2026-03-01T12:00:00-03:', 'hh:mm:ss'],
    ['2026-03-01T12:00:00BRT', 'hh:mm:ss'],
    ['2026-03-01T12:00:00Z03', 'hh:mm:ss'],
    ['ontem', 'RFC 3339'],
    ['', 'RFC 3339'],
  ])('%j is refused with "%s", and with examples', (text, fault) => {
    const message = parseQueryInstant(text)
    expect(message).toContain(fault)
    expect(message).toContain('Exemplos: 2026-03-01T00:00:00Z')
  })
})
