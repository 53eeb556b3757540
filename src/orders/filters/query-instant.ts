import { type Instant, type InvalidInstantReason, parseInstantBound } from '../../lib/instant.ts'

const MINUTES = '(\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2})'
const SECONDS = '(:\\d{2}(?:\\.\\d+)?)?'
// A space is the + of a URL that was not encoded.
const ZONE = '(?:([Zz])|([+ -]\\d{2})(?::?(\\d{2}))?)?'
const QUERY_INSTANT = new RegExp(`^${MINUTES}${SECONDS}${ZONE}$`)

/**
 * Parses the instant of a query parameter: RFC 3339, and what common libraries print beside it.
 * Those are the offsets `-0300` and `-03`, and a time without seconds. Returns the error message in
 * Portuguese for anything else.
 */
export function parseQueryInstant(text: string): Instant | string {
  const parsed = parseInstantBound(complete(text))
  if (typeof parsed !== 'string') return parsed
  return `${messageOf(parsed, text)} ${EXAMPLES}`
}

/** With the seconds and the minutes of the offset that RFC 3339 requires. */
function complete(text: string): string {
  const parts = QUERY_INSTANT.exec(text)
  if (parts === null) return text
  const [, minutes = '', seconds = ':00', utc = '', offsetHours, offsetMinutes = '00'] = parts
  const offset = offsetHours === undefined ? '' : `${offsetHours}:${offsetMinutes}`
  return `${minutes}${seconds}${utc}${offset}`
}

function messageOf(reason: InvalidInstantReason, text: string): string {
  if (reason !== 'malformed') return messages[reason]
  const [, message] = nearMisses.find(([pattern]) => pattern.test(text)) ?? []
  return message ?? messages.malformed
}

const EXAMPLES = 'Exemplos: 2026-03-01T00:00:00Z e 2026-03-01T00:00:00-03:00.'

const messages = {
  'date-alone': 'Faltam a hora e o fuso: envie data, hora e fuso.',
  'no-zone': 'Falta o fuso: termine com Z ou com um deslocamento como -03:00.',
  'plus-read-as-space':
    'Em uma URL o + do fuso vira espaço: envie + como %2B, por exemplo 2026-03-01T00:00:00%2B03:00.',
  impossible:
    'Esta data, hora ou fuso não existe no calendário ou no relógio: horas vão de 00 a 23, minutos e segundos de 00 a 59.',
  malformed: 'Envie um instante no formato RFC 3339, com data, hora e fuso.',
} as const satisfies Record<InvalidInstantReason, string>

const nearMisses: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}-\d{2}-\d{2} +\d{2}:\d{2}/, 'Falta o T entre a data e a hora.'],
  [/^\d{4}-\d{2}-\d{2}[Tt]\d{2}(?:[Zz]|[+ -].*)?$/, 'Faltam os minutos da hora.'],
  [/^\d{4}-\d{2}-\d{2}[Tt]/, 'A hora deve ter o formato hh:mm:ss e o fuso, Z ou ±hh:mm.'],
  [/^\d{8}(?:[Tt]|$)/, 'Faltam os hifens da data e os dois-pontos da hora.'],
  [/^\d{1,2}\/\d{1,2}\/\d{4}/, 'A data começa pelo ano e usa hifens.'],
  [/^\d{4}$/, 'Faltam o mês, o dia, a hora e o fuso.'],
  [/^\d{4}-\d{2}$/, 'Faltam o dia, a hora e o fuso.'],
  [/^-?\d+(?:\.\d+)?$/, 'Envie data, hora e fuso em vez de um número de segundos.'],
]
