/**
 * Shows commands that need a store for themselves that a server uses it: a key below the prefix, which ends 15 seconds
 * after a server that was killed. Unlike the endpoints of a server it exists whatever addresses the server publishes.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Revision } from '../backend.js'
import { StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import type { Connection } from './connection.js'

/** Keys of this file, below the prefix. */
const SERVERS = '.servers/'
/** Where servers publish their addresses: releases before this file have only these keys. */
const ADDRESSES = 'masterleases/'
const LEASE_SECONDS = 15
const RENEWAL_MS = 5_000
/** A shutdown does not wait longer for etcd. */
const REMOVAL_MS = 1_000

type Calls = Pick<Connection, 'txn' | 'other'>

export class Presence {
  readonly #calls: Calls
  readonly #key: Buffer
  readonly #outcome: (error?: unknown) => void
  #written: Revision = 0
  #timer: NodeJS.Timeout | undefined
  #renewal: Promise<void> | undefined
  #closed = false

  /** @param outcome called after each renewal, with the error of one that failed */
  constructor (calls: Calls, prefix: string, outcome: (error?: unknown) => void) {
    this.#calls = calls
    this.#outcome = outcome
    const host = hostname().replace(/[^A-Za-z0-9.-]/g, '_')
    const name = `${host}-${process.pid}-${randomBytes(4).toString('hex')}`
    this.#key = Buffer.from(`${prefix}/${SERVERS}${name}`, 'latin1')
    this.#renew()
  }

  /** Removes the key if etcd answers in time. */
  async close (): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    let late: NodeJS.Timeout | undefined
    await Promise.race([
      this.#remove().catch(() => {}), // it ends by itself
      new Promise(resolve => { late = setTimeout(resolve, REMOVAL_MS) })
    ])
    clearTimeout(late)
  }

  #renew (): void {
    this.#renewal = this.#write().then(() => { this.#outcome() }, this.#outcome).finally(() => {
      if (this.#closed) return
      this.#timer = setTimeout(() => { this.#renew() }, RENEWAL_MS)
      this.#timer.unref()
    })
  }

  async #write (): Promise<void> {
    const grant = { TTL: String(LEASE_SECONDS), ID: '0' }
    const { ID: lease } = await this.#calls.other<{ ID: string }>('Lease', 'leaseGrant', grant)
    const value = Buffer.from('{}')
    for (;;) {
      const write = { key: this.#key, expected: this.#written, value, lease }
      const { succeeded, revision, kv } = await this.#calls.txn(write)
      this.#written = succeeded ? revision : kv?.modRevision ?? 0
      if (succeeded) return
    }
  }

  async #remove (): Promise<void> {
    await this.#renewal
    if (this.#written === 0) return
    await this.#calls.txn({ key: this.#key, expected: this.#written, value: undefined, lease: undefined })
  }
}

/** @throws StorageError 'Unavailable' if servers use the store below the prefix */
export async function refuseServers (connection: Connection, prefix: string): Promise<void> {
  const keys = await Promise.all([SERVERS, ADDRESSES].map(async folder => {
    const { start, end } = rangeOf(`${prefix}/${folder}`)
    const { kvs } = await connection.range({ key: Buffer.from(start, 'latin1'), rangeEnd: Buffer.from(end, 'latin1') })
    return kvs.map(({ key }) => key.slice(start.length))
  }))
  const servers = keys.flat()
  if (servers.length === 0) return
  const remedy = `stop them first (the entry of one that was killed ends within ${LEASE_SECONDS} seconds)`
  throw new StorageError('Unavailable', `servers use the store below ${prefix}: ${servers.join(', ')}; ${remedy}`)
}
