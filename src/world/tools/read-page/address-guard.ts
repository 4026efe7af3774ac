import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import os from 'node:os'
import { ToolError } from '../../../base/errors/index.ts'

/** Everything that is not the public internet: this machine, local networks, and reserved addresses. */
const closed = new BlockList()
const ipv4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The Azure host: formally public, but reachable from every virtual machine there.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
for (const [network, prefix] of ipv4) closed.addSubnet(network, prefix, 'ipv4')
/** IPv6: only global unicast (2000::/3) is allowed, except ranges for IPv4 tunnels, documentation and benchmarking. */
const openIpv6 = new BlockList()
openIpv6.addSubnet('2000::', 3, 'ipv6')
const ipv6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]
for (const [network, prefix] of ipv6) closed.addSubnet(network, prefix, 'ipv6')

/**
 * The machine's own addresses, which may be public: services closed to the world are often open to the machine
 * itself. Queried each time, because networks change.
 */
function isOwnAddress(address: string, family: 'ipv4' | 'ipv6'): boolean {
  const own = new BlockList()
  for (const each of Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? []))
    own.addAddress(each.address.split('%')[0]!, each.family === 'IPv4' ? 'ipv4' : 'ipv6')
  return own.check(address, family)
}

/** True for an address on the public internet that is not this machine's; false for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').split('%')[0]!
  const family = isIP(plain)
  if (family === 4) return !closed.check(plain, 'ipv4') && !isOwnAddress(plain, 'ipv4')
  const isOpen = family === 6 && openIpv6.check(plain, 'ipv6') && !closed.check(plain, 'ipv6')
  return isOpen && !isOwnAddress(plain, 'ipv6')
}

/**
 * A DNS lookup that refuses names with non-public addresses. It runs as part of the connection, so the checked
 * address is the one that is used: DNS rebinding gains nothing.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    const refused = addresses.find(({ address }) => !isPublicAddress(address))
    if (refused !== undefined || addresses.length === 0) return callback(refusal(hostname), '', 0)
    if (options.all === true) return callback(null, addresses)
    return callback(null, addresses[0]!.address, addresses[0]!.family)
  })
}

export function refusal(host: string): ToolError {
  return new ToolError(`${host} is not on the public internet`, {
    fix: 'If you trust it, allow it by name and port: tools.allow_hosts in the settings, or `allowHosts` in code.',
  })
}
