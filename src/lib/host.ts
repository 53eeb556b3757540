import ipaddr from 'ipaddr.js'

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`)
/** A name that ends like this is read as an IPv4 address, in whatever spelling. */
const NUMERIC_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i

/** Whether a socket can listen on it: an IP address in full, without brackets, or a host name; no URL and no port. */
export function isHost(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)) return true
  return NAME.test(text) && !NUMERIC_END.test(text)
}
