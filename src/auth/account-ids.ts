/** Pattern of account ids in keys and source orders. */
export const accountIdPattern = '^[A-Za-z0-9_-]{1,64}$'

const ACCOUNT_ID = new RegExp(accountIdPattern)

/** Whether a text has the form of an account id, which a sandbox has not. */
export function isAccountId(text: string): boolean {
  return ACCOUNT_ID.test(text)
}

/**
 * The sandbox of the account `A` is the internal account `A.test`. No account id contains a dot, so
 * no live account can be a sandbox, and whatever is stored or counted by account is separate.
 */
const SANDBOX_SUFFIX = '.test'

/** Pattern of the owner of a source order: an account, or the sandbox of one. */
export const ownerIdPattern = accountIdPattern.replace(/\$$/, '(\\.test)?$')

/** The internal account of the sandbox of a live account. */
export function sandboxOf(accountId: string): string {
  return accountId + SANDBOX_SUFFIX
}

/** Whether an internal account is a sandbox. */
export function isSandbox(internalAccountId: string): boolean {
  return internalAccountId.endsWith(SANDBOX_SUFFIX)
}

/** The account as its owner knows it, of a sandbox and of the account itself. */
export function liveAccountOf(internalAccountId: string): string {
  return isSandbox(internalAccountId)
    ? internalAccountId.slice(0, -SANDBOX_SUFFIX.length)
    : internalAccountId
}

/** How an account appears outside of the service; `test` only in a sandbox. */
export function publicAccount(internalAccountId: string): { account_id: string; test?: true } {
  const account_id = liveAccountOf(internalAccountId)
  return isSandbox(internalAccountId) ? { account_id, test: true } : { account_id }
}
