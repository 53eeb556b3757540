/**
 * Instants as `dd/mm/aaaa hh:mm:ss` on the clocks of Brasília, which had summer time until 2019; what is less than a
 * second is left out. `null` for what is no instant.
 */
export function createBrasiliaTime(): (instant: string) => string | null {
  const form = new Intl.DateTimeFormat('pt-BR', {
    timeZone: 'America/Sao_Paulo',
    hourCycle: 'h23',
    day: '2-digit',
    month: '2-digit',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return (instant) => {
    const epochMs = Date.parse(instant)
    if (Number.isNaN(epochMs)) return null
    const parts = form.formatToParts(epochMs).map(({ type, value }) => [type, value] as const)
    const { day, month, year = '', hour, minute, second } = Object.fromEntries(parts)
    return `${day}/${month}/${year.padStart(4, '0')} ${hour}:${minute}:${second}`
  }
}
