import { cnpjWeights, withCheckDigits } from './check-digits.ts'
import type { Order } from './order.ts'

export type CustomerDocument = Pick<Order['customer'], 'document' | 'document_type'>

/**
 * Every dash, a minus sign, line breaks, soft hyphens and zero-width spaces too, because buyers
 * paste documents from other texts.
 */
const PUNCTUATION = /[./\s\p{Pd}\u2212\u00ad\u200b]/gu

/**
 * Drops punctuation. Digits are a CPF or CNPJ by their count alone, because old documents with
 * wrong check digits are in use. A CNPJ with letters needs right ones: other texts of 14 characters
 * exist.
 */
export function parseCustomerDocument(text: string): CustomerDocument {
  const document = text.replaceAll(PUNCTUATION, '').toUpperCase()
  if (/^\d{11}$/.test(document)) return { document, document_type: 'CPF' }
  if (/^\d{14}$/.test(document) || isCnpjWithLetters(document)) {
    return { document, document_type: 'CNPJ' }
  }
  return { document: null, document_type: null }
}

function isCnpjWithLetters(document: string): boolean {
  if (!/^[0-9A-Z]{12}\d{2}$/.test(document)) return false
  return withCheckDigits(document.slice(0, 12), cnpjWeights) === document
}
