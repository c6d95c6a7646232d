"""The models of the application in the test of docs/guide/migrations.md. Run as a program, it creates their tables: models.py URI."""

import sys

from sqlalchemy import BigInteger, Column, Identity, MetaData, Table, Text, create_engine

metadata = MetaData()
Table("articles", metadata, Column("id", BigInteger, Identity(always=True), primary_key=True), Column("title", Text, nullable=False),
      Column("body", Text, nullable=False))

if __name__ == "__main__":
    metadata.create_all(create_engine(sys.argv[1]))
