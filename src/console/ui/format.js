import { serverNow } from '../api.js'

const moment = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeStyle: 'short' })
const second = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeStyle: 'medium' })
const date = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'medium' })
const dayOfMonth = new Intl.DateTimeFormat('pt-BR', {
  day: '2-digit',
  month: '2-digit',
  timeZone: 'UTC',
})
const relative = new Intl.RelativeTimeFormat('pt-BR', { numeric: 'auto' })
const whole = new Intl.NumberFormat('pt-BR')

/** `23/11/2026, 08:30`, in the time zone of the user. */
export const formatMoment = (instant) => moment.format(new Date(instant))

/** `23/11/2026, 08:30:05`, in the time zone of the user. */
export const formatSecond = (instant) => second.format(new Date(instant))

/** `23 de nov. de 2026`. */
export const formatDate = (instant) => date.format(new Date(instant))

/** `23/11`, of a day `2026-11-23`. */
export const formatDay = (day) => dayOfMonth.format(new Date(`${day}T00:00:00Z`))

export const formatNumber = (number) => whole.format(number)

/** `há 2 horas`. `nowMs`: epoch milliseconds. */
export function formatAgo(instant, nowMs = serverNow()) {
  const seconds = Math.round((Date.parse(instant) - nowMs) / 1_000)
  const past = Math.abs(seconds)
  if (past < 45) return 'agora há pouco'
  if (past < 3_600) return relative.format(Math.round(seconds / 60), 'minute')
  if (past < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour')
  if (past < 30 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day')
  return formatDate(instant)
}

/** `R$ 99,00`, of cents. An old order has no currency. */
export function formatMoney(cents, currency) {
  const options = { style: 'currency', currency: currency ?? 'BRL' }
  return new Intl.NumberFormat('pt-BR', options).format(cents / 100)
}
