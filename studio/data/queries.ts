import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import type { Indexing, Page } from '../../src/studio/api.ts'
import { type GetPath, get, type Parts, type QueryOf, type ReplyOf, RequestProblem } from './client.ts'

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Live messages say when something changed.
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      retry: (count, problem) => count < 2 && problem instanceof RequestProblem && problem.status === 0,
    },
  },
})

interface Options {
  enabled?: boolean
  /** Shows what was there until the new reply has come. */
  keep?: boolean
}

export function useGet<Path extends GetPath>(
  path: Path,
  parts: Parts<Path>,
  query?: QueryOf<Path>,
  { enabled = true, keep = false }: Options = {},
): UseQueryResult<ReplyOf<Path>, Error> {
  return useQuery({
    queryKey: [path, parts, query ?? {}],
    queryFn: ({ signal }) => get(path, parts, query, signal),
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  }) as UseQueryResult<ReplyOf<Path>, Error>
}

type RowOf<Path extends GetPath> = ReplyOf<Path> extends Page<infer Row> ? Row : never

export interface List<Row> {
  rows: Row[]
  total: number | undefined
  indexing: Indexing | undefined
  isLoading: boolean
  problem: Error | null
  hasMore: boolean
  loadMore: () => void
}

/** A list that loads further pages as they come into view. */
export function useRows<Path extends GetPath>(
  path: Path,
  parts: Parts<Path>,
  query?: QueryOf<Path>,
): List<RowOf<Path>> {
  const found = useInfiniteQuery({
    queryKey: [path, parts, query ?? {}],
    queryFn: async ({ pageParam, signal }) =>
      (await get(
        path,
        parts,
        { ...(query as object), cursor: pageParam } as QueryOf<Path>,
        signal,
      )) as unknown as Page<RowOf<Path>>,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: Page<RowOf<Path>>) => last.next,
  })
  const pages = found.data?.pages ?? []
  return {
    rows: pages.flatMap(({ rows }) => rows),
    total: pages[0]?.total,
    indexing: pages.at(-1)?.indexing,
    isLoading: found.isPending,
    problem: found.error,
    hasMore: found.hasNextPage,
    loadMore: () => {
      if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage()
    },
  }
}
