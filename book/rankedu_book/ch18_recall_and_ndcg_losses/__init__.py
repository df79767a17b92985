"""Chapter 18, Recall@k and NDCG as losses."""
